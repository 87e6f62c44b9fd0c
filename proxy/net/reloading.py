"""Reloading: the files that plugins work by, kept in step while the proxy runs.

Rules:
* A file is looked at five times a second, in a thread. What it says is in force at once, on connections that are open
  too.
* A broken new file is a line in the log; what there was before stays in force. One that cannot be looked at keeps
  no other from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
import trio

from proxy.net.complaints import Complaints
from proxy.net.tasks import Tasks
from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile

log = structlog.get_logger()

EVERY = 0.2  # seconds between two looks: what is written is in force within a second on a busy machine too


async def keep_in_step(files: Sequence[tuple[str, WatchedFile[Any]]], tasks: Tasks) -> None:
    """Look until cancelled: each is what it has ("rules"), and the file."""
    while files:
        await trio.sleep(EVERY)
        for what, file in files:
            with tasks.contained(f"reading {what}"):
                reload = await trio.to_thread.run_sync(file.look)
                if reload is not None:
                    _tell(what, reload, tasks.complaints)


def _tell(what: str, reload: Reload, complaints: Complaints) -> None:
    if reload.taken:  # perhaps by a client that may change them, again and again
        warnings = {"warnings": list(reload.said)} if reload.said else {}
        complaints.tell(log.info, f"{what} reloaded", reload.file, trio.current_time(), file=reload.file, **warnings)
    else:
        log.error(f"{what} not reloaded", why="\n".join(reload.said), still="what was read before")
