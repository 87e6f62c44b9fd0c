"""Writer: lines on their way to a file descriptor that may be full, closed, or read by nobody.

Rules:
* The caller never waits and gets no error. A thread of its own writes the lines in order, from a bounded queue.
* A line that finds the queue full is dropped and counted, and so are further ones until half of the queue is written.
  If a line cannot be written, all queued lines are dropped. When lines can be written again, the first one says how
  many were dropped.
* Each write is one line. If a full disk took only a part of a line, that part is ended before the next line begins.
* `flush` waits no longer than its timeout: a pipe that nobody reads does not keep the process from ending.
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
THREAD = "log"  # its name
AGAIN = 1.0  # seconds until the next attempt after a failed one


class Entry(NamedTuple):
    """A queued line. `dropped`: how many dropped lines this line reports."""

    data: bytes
    dropped: int = 0


class Writer:
    """Writes lines to `fd`, which it does not close. `notice` makes the line that reports a number of dropped lines."""

    def __init__(self, fd: int, notice: Callable[[int], str]) -> None:
        self.dropped = 0  # since the start
        self._fd = fd
        self._notice = notice
        self._queue: deque[Entry] = deque()  # the thread is writing the first one
        self._size = 0
        self._full = False
        self._untold = 0  # dropped lines that no line has reported yet
        self._failing = False  # the last line could not be written
        self._torn = False  # the last line was written in part
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name=THREAD, daemon=True).start()

    def write(self, line: str) -> None:
        """Queue this line. It is written soon."""
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
        """Wait until all lines are written or dropped, but at most this many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and (self._failing or not self._untold), within)

    def _add(self, entry: Entry) -> None:
        self._queue.append(entry)
        self._size += len(entry.data)

    def _drop(self, told: int = 0) -> None:
        """Count a lost line. `told`: how many dropped lines it would have reported."""
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
                    self._queue.clear()  # the other lines would fail as well
                self._full = self._full and (len(self._queue) > MOST_LINES / 2 or self._size > MOST_BYTES / 2)
                self._changed.notify_all()

    def _put(self, line: bytes) -> bool:
        """Write a line. False if it could not be written."""
        rest = memoryview(b"\n" + line if self._torn else line)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
                self._torn = bool(rest)
            except BlockingIOError:  # another process that shares the descriptor made it non-blocking
                waiting = select.poll()
                waiting.register(self._fd, select.POLLOUT)
                waiting.poll()
            except OSError:
                return False
        return True
