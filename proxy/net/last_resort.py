"""Last resort: a process that is to end ends, even if one of its threads hangs.

A thread cannot be cancelled. If one reads from a disk that does not answer, trio waits for it, and so does Python.

Rules:
* After a second signal the process has limited time, and so it has when it no longer serves. Then one line says which
  threads are still at work, and where in the code. The process ends when this line is written, and waits for nothing
  else.
* The line names functions, files and tasks. It has no values.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

import structlog

from proxy import logs

log = structlog.get_logger()

IDLE = "Trio thread "  # how the names of trio's threads begin that have no work
OURS = "last resort"
PLACES = 4  # of each thread: the innermost are often in a library


class LastResort:
    """The last resort of one process, as a context: if it is left in time, nothing happens. `code`: the exit code."""

    def __init__(self, code: int) -> None:
        self._code = code
        self._ended = threading.Event()
        self._has_begun = False

    def __enter__(self) -> LastResort:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def begin(self, seconds: float) -> None:
        """From now on the process has this time. The first time that it is given counts."""
        if not self._has_begun:
            self._has_begun = True
            with suppress(RuntimeError):  # no thread can be started: then the process ends in order or not at all
                threading.Thread(target=self._wait, args=(seconds,), name=OURS, daemon=True).start()

    def _wait(self, seconds: float) -> None:
        if self._ended.wait(seconds):
            return
        hung = list(at_work()) or ["no thread but the main one"]
        log.error("ended by force", why=f"it did not end within {seconds:g} s", hung=hung)
        logs.flush()
        os._exit(self._code)


def at_work() -> Iterator[str]:
    """The threads that are at work: the name of each, and its place in the code. No file is read for that."""
    frames = sys._current_frames()
    others = (threading.main_thread().name, logs.THREAD, OURS)
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if frame is not None and thread.name not in others and not thread.name.startswith(IDLE):
            yield f"{thread.name}, in {', called by '.join(_places(frame))}"


def _places(frame: FrameType) -> Iterator[str]:
    """Where a thread is, and where it came from."""
    at: FrameType | None = frame
    for _ in range(PLACES):
        if at is not None:
            yield f"{at.f_code.co_qualname} at {at.f_code.co_filename}:{at.f_lineno}"
            at = at.f_back
