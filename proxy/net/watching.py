"""Watching: the files that a worker works by, kept in step while it runs.

Rules:
* One task looks at all of them, five times a second, in a thread. What they say is in force at once, on connections
  that are open too; only certificates are for connections that come.
* A broken new file is a line in the log; what there was before stays in force. One that cannot be looked at keeps
  no other from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
import trio

from proxy.net.complaints import Complaints
from proxy.net.machine import give_back
from proxy.net.tasks import Tasks
from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile

log = structlog.get_logger()

EVERY = 0.2  # seconds between two looks: what is written is in force within a second on a busy machine too

OPERATORS = frozenset({"credentials", "certificates"})  # change these; rules may be changed by clients, many times

Watched = tuple[str, WatchedFile[Any]]  # what it has ("rules"), and the file


async def watch(
    watched: Callable[[], Sequence[Watched]],
    tasks: Tasks,
    changed: Callable[[], None],
    looked: Callable[[], Awaitable[None]],
) -> None:
    """Look until cancelled; `watched` gives what there is then.

    `changed` is called when anything of it is another, and `looked` after each look.
    """
    while True:
        await trio.sleep(EVERY)
        if await look(watched(), tasks):
            changed()
        await looked()


async def look(watched: Sequence[Watched], tasks: Tasks) -> bool:
    """Look once at all of them. Is anything another?"""
    if not watched:
        return False
    looked = await trio.to_thread.run_sync(_look_at, [file for _, file in watched])
    for (what, _), found in zip(watched, looked, strict=True):
        with tasks.contained(f"reading {what}"):
            if isinstance(found, Exception):
                raise found
            if found is not None:
                _tell(what, found, tasks.complaints)
    return any(isinstance(found, Reload) and found.taken for found in looked)


def _look_at(files: Sequence[WatchedFile[Any]]) -> list[Reload | Exception | None]:
    """What is new of each. What reading a large file took is given back."""
    found = [_look(file) for file in files]
    if any(found):
        give_back()
    return found


def _look(file: WatchedFile[Any]) -> Reload | Exception | None:
    try:
        return file.look()
    except Exception as error:
        return error


def _tell(what: str, reload: Reload, complaints: Complaints) -> None:
    if reload.taken:
        facts = {"file": reload.file} | ({"warnings": list(reload.said)} if reload.said else {})
        if what in OPERATORS:
            log.info(f"{what} reloaded", **facts)
        else:
            complaints.tell(log.info, f"{what} reloaded", reload.file, trio.current_time(), **facts)
    else:
        log.error(f"{what} not reloaded", why="\n".join(reload.said), still="what was read before")
