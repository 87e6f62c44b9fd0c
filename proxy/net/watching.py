"""Watching: keeps the files that a worker uses up to date while it runs.

Rules:
* One task checks all of them, five times a second, in a thread. A changed file is in force at once, also on open
  connections. Certificates alone are only for new connections.
* A file that cannot be read because descriptors ran out is a line too, and is read as soon as there are some.
* A broken new file is a line in the log, and the previous content stays in force. A file that cannot be checked does
  not affect the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
import trio

from proxy.core.failure import FAILURES, AnyFailure
from proxy.net.complaints import Complaints
from proxy.net.machine import give_back
from proxy.net.tasks import Tasks
from proxy.text.problems import Reload
from proxy.text.scarce import is_scarce, why_scarce
from proxy.text.watched import WatchedFile

log = structlog.get_logger()

EVERY = 0.2  # seconds between two checks: a change is in force within a second, on a busy machine too

STILL = "what was read before"

OPERATORS = frozenset({"credentials", "certificates"})  # only operators change these; rules may change often

Watched = tuple[str, WatchedFile[Any]]  # what it holds ("rules"), and the file


async def watch(
    watched: Callable[[], Sequence[Watched]],
    tasks: Tasks,
    changed: Callable[[], None],
    looked: Callable[[], Awaitable[None]],
) -> None:
    """Check the files until cancelled. `watched` returns the current ones.

    `changed` is called when the content of any of them has changed, and `looked` after each check.
    """
    while True:
        await trio.sleep(EVERY)
        if await look(watched(), tasks):
            changed()
        await looked()


async def look(watched: Sequence[Watched], tasks: Tasks) -> bool:
    """Check all of them once. Has any content changed?"""
    if not watched:
        return False
    looked = await trio.to_thread.run_sync(_look_at, [file for _, file in watched])
    for (what, _), found in zip(watched, looked, strict=True):
        with tasks.contained(f"reading {what}"):
            if isinstance(found, OSError) and is_scarce(found):
                facts = {"why": why_scarce(found), "still": STILL, "again": f"in {EVERY:g} s"}
                tasks.complaints.tell(log.error, f"{what} not read yet", **facts)
            elif isinstance(found, FAILURES):
                raise found
            elif found is not None:
                tasks.counters.refused_files += not found.taken
                _tell(what, found, tasks.complaints)
    return any(isinstance(found, Reload) and found.taken for found in looked)


def _look_at(files: Sequence[WatchedFile[Any]]) -> list[Reload | AnyFailure | None]:
    """The changes of each file. The memory for reading a large file is returned to the system."""
    found = [_look(file) for file in files]
    if any(found):
        give_back()
    return found


def _look(file: WatchedFile[Any]) -> Reload | AnyFailure | None:
    try:
        return file.look()
    except FAILURES as error:
        return error


def _tell(what: str, reload: Reload, complaints: Complaints) -> None:
    if reload.taken:
        facts = {"file": reload.file} | ({"warnings": list(reload.said)} if reload.said else {})
        if what in OPERATORS:
            log.info(f"{what} reloaded", **facts)
        else:
            complaints.tell(log.info, f"{what} reloaded", reload.file, trio.current_time(), **facts)
    else:
        log.error(f"{what} not reloaded", why="\n".join(reload.said), still=STILL)
