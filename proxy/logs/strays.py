"""Strays: what libraries and the interpreter would write to standard error by themselves becomes lines of the log.

Tracebacks of threads and of the end, warnings, `logging`, `print`: each of these would block on a pipe that nobody
empties, forge lines, or break a log of JSON.

Rules:
* Whatever comes this way is throttled as a whole: 50 lines at once, then one a second. The next line counts the others.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from typing import Any

import structlog

from proxy.logs.bucket import Throttle
from proxy.logs.cut import LONG, cut

log = structlog.get_logger()

BURST = 50
PACE = 1.0  # seconds


class Strays:
    """All that comes by itself."""

    def __init__(self) -> None:
        self._throttle = Throttle(BURST, PACE)

    def tell(self, level: int, event: str, **facts: Any) -> None:
        """Write this line, if it is due."""
        left_out = self._throttle.due()
        if left_out is not None:
            log.log(level, event, **facts, **left_out)


class Library(logging.Handler):
    """What libraries give to `logging`."""

    def __init__(self, strays: Strays) -> None:
        super().__init__(logging.WARNING)
        self._strays = strays

    def emit(self, record: logging.LogRecord) -> None:
        """A line of the log."""
        try:
            said = record.getMessage()
        except Exception:
            said = str(record.msg)
        raised = {"exc_info": record.exc_info} if record.exc_info else {}
        level = logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING
        self._strays.tell(level, "a library says", library=record.name, said=cut(said.strip()), **raised)


class Text(io.TextIOBase):
    """What is written to `sys.stderr`."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, strays: Strays) -> None:
        self._strays = strays
        self._rest = ""

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """A line of the log for each line; what has no end yet waits for it."""
        *lines, rest = (self._rest + text).split("\n")
        self._rest = rest[:LONG]
        for line in filter(str.strip, lines):
            self._strays.tell(logging.WARNING, "written to standard error", said=cut(line))
        return len(text)


def take_over() -> None:
    """From now on, all of it is told by the log."""
    strays = Strays()

    def ended(kind: type[BaseException], error: BaseException, at: Any) -> None:
        log.critical("ended by an error that nobody handled: a bug of the proxy", exc_info=(kind, error, at))

    def unraisable(raised: sys.UnraisableHookArgs) -> None:
        facts = {"what": raised.err_msg or "Exception ignored in", "where": raised.object}
        strays.tell(logging.ERROR, "an error that nobody can handle", **facts, exc_info=raised.exc_value)

    def thread_ended(raised: threading.ExceptHookArgs) -> None:
        name = raised.thread.name if raised.thread else None
        strays.tell(logging.ERROR, "a thread ended by an error", thread=name, exc_info=raised.exc_value)

    sys.excepthook, sys.unraisablehook, threading.excepthook = ended, unraisable, thread_ended
    sys.stderr = Text(strays)
    logging.basicConfig(handlers=[Library(strays)], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
