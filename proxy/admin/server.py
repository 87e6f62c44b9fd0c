"""The admin side's server: Hypercorn in the trio loop that is there already."""

import logging
import socket
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.trio import serve

from proxy.admin.app import Source, application

GRACE = 1.0  # seconds that an answer under way has when the proxy ends


async def serve_admin(
    listening: list[socket.socket],
    source: Source,
    workers: int,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer on bound sockets until cancelled. They stay open: what failed may be begun again on them."""
    settings = HypercornConfig()
    settings.bind = [f"fd://{bound.dup().detach()}" for bound in listening]
    settings.accesslog = None
    settings.errorlog = logging.getLogger("hypercorn.error")  # where it would be lines of our log
    settings.graceful_timeout = GRACE
    app: Any = application(source, workers)  # Starlette's messages are plain dicts, Hypercorn's typed ones
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve, app, settings, shutdown_trigger=trio.sleep_forever))
        task_status.started()
