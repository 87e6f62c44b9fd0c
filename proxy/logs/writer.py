"""Writer: lines on their way to a file descriptor that may be full, closed, or read by nobody.

Rules:
* Who writes a line never waits and gets no error: a thread of its own writes, in order, from a queue that is bounded.
* A line that finds the queue full is dropped and counted, and so are further ones until half of the queue is written.
  Where a line cannot be written, all that wait are dropped. When lines are taken again, the first one says how many.
* Each attempt is one line. What a full disk took of a line is ended before the next one begins.
* `flush` waits no longer than it is told to: a pipe that nobody empties does not keep a process from ending.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

MOST_LINES = 10_000
MOST_BYTES = 4 << 20
AGAIN = 1.0  # seconds until a log that took nothing is tried again


class Entry(NamedTuple):
    """A line on its way. `dropped`: it says that so many were dropped."""

    data: bytes
    dropped: int = 0


class Writer:
    """Writes lines to `fd`, which is left open. `notice` makes the line about so many that were dropped."""

    def __init__(self, fd: int, notice: Callable[[int], str]) -> None:
        self.dropped = 0  # since the start
        self._fd = fd
        self._notice = notice
        self._queue: deque[Entry] = deque()  # the first one is being written
        self._size = 0
        self._full = False
        self._untold = 0  # of those dropped
        self._failing = False  # the last line could not be written
        self._torn = False  # the last line was written in part
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def write(self, line: str) -> None:
        """Write this line, some time soon."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        with self._changed:
            full = len(self._queue) >= MOST_LINES or self._size + len(data) > MOST_BYTES
            self._full = bool(self._queue) and (self._full or full)
            if self._full:
                self._drop()
                return
            if self._untold and not self._failing:
                self._add(self._of_dropped())
            self._add(Entry(data))
            self._changed.notify_all()

    def flush(self, within: float) -> None:
        """Wait until all lines are written, or dropped, but no longer than so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and (self._failing or not self._untold), within)

    def _add(self, entry: Entry) -> None:
        self._queue.append(entry)
        self._size += len(entry.data)

    def _drop(self, told: int = 0) -> None:
        """A line is lost. `told`: it would have said that so many were dropped."""
        self.dropped += not told
        self._untold += told or 1

    def _of_dropped(self) -> Entry:
        untold, self._untold = self._untold, 0
        return Entry(self._notice(untold).encode() + b"\n", untold)

    def _run(self) -> None:
        while True:
            with self._changed:
                pause = None if not self._untold else AGAIN if self._failing else 0.0
                self._changed.wait_for(lambda: self._queue, pause)
                if self._untold and (self._failing or not self._queue):
                    notice = self._of_dropped()
                    self._queue.appendleft(notice)
                    self._size += len(notice.data)
                entry = self._queue[0]
            written = self._put(entry.data)
            with self._changed:
                self._failing = not written
                for done in [self._queue.popleft()] if written else self._queue:
                    self._size -= len(done.data)
                    if not written:
                        self._drop(done.dropped)
                if not written:
                    self._queue.clear()  # the others would fare no better
                self._full = self._full and (len(self._queue) > MOST_LINES / 2 or self._size > MOST_BYTES / 2)
                self._changed.notify_all()

    def _put(self, line: bytes) -> bool:
        """Write a line. False: it could not be written."""
        rest = memoryview(b"\n" + line if self._torn else line)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
                self._torn = bool(rest)
            except BlockingIOError:  # somebody who shares the descriptor wants it so
                waiting = select.poll()
                waiting.register(self._fd, select.POLLOUT)
                waiting.poll()
            except OSError:
                return False
        return True
