"""The admin side's server: Hypercorn in the trio event loop that already runs.

Hypercorn waits without end for a client that does not take its response, even when it is cancelled. A proxy that should
end would wait too. So the kernel must end such connections: see `untaken` in `net/bind.py`, which binds the sockets.
"""

import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import trio
from hypercorn.trio import serve

from proxy.admin.connection_limit import LimitedConfig, LimitedConnection, OnClosed, OpenConnections
from proxy.admin.freeing import free_closed_connections
from proxy.admin.http1 import speak_http1_alone

GRACE = 1.0  # seconds for responses under way when the proxy ends
IDLE = 90.0  # seconds for which an idle connection stays open: many scrapers come once a minute


async def serve_admin(
    listening: list[socket.socket],
    application: Callable[[], Any],  # untyped: Starlette's messages are plain dicts, Hypercorn's are typed ones
    on_closed: OnClosed,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Have an ASGI application answer on bound sockets until cancelled.

    `on_closed` is called for each connection that is closed because too many are open. The sockets stay open: after a
    failure, another application may be started on them.
    """
    speak_http1_alone(LimitedConnection)
    free_closed_connections()
    settings = LimitedConfig(OpenConnections(on_closed))
    settings.bind = [f"fd://{bound.dup().detach()}" for bound in listening]
    settings.accesslog = None
    settings.errorlog = logging.getLogger("hypercorn.error")  # its lines go to our log
    settings.graceful_timeout = GRACE
    settings.keep_alive_timeout = IDLE
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve, application(), settings, shutdown_trigger=trio.sleep_forever))
        task_status.started()
