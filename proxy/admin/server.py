"""The admin side's server: Hypercorn in the trio loop that is there already.

Hypercorn waits for ever for a client that does not take its answers, also when it is cancelled. So whoever binds the
sockets has the kernel end such connections (`untaken` of `net/bind.py`): a proxy that is told to end would wait too.
"""

import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.trio import serve

from proxy.admin.http1 import speak_http1_alone

GRACE = 1.0  # seconds that an answer under way has when the proxy ends


async def serve_admin(
    listening: list[socket.socket],
    application: Callable[[], Any],  # Starlette's messages are plain dicts, Hypercorn's typed ones
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Have an ASGI application answer on bound sockets until cancelled.

    They stay open: what failed may be begun again on them, with another application.
    """
    speak_http1_alone()
    settings = HypercornConfig()
    settings.bind = [f"fd://{bound.dup().detach()}" for bound in listening]
    settings.accesslog = None
    settings.errorlog = logging.getLogger("hypercorn.error")  # where it would be lines of our log
    settings.graceful_timeout = GRACE
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve, application(), settings, shutdown_trigger=trio.sleep_forever))
        task_status.started()
