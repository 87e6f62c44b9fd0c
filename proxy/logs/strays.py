"""Strays: whatever libraries and the interpreter write to standard error becomes lines of the log.

These are the tracebacks of threads and of the process, warnings, `logging` and `print`. Each would block on a pipe that
nobody reads, forge lines, or break a log of JSON.

Rules:
* All strays share one rate limit: 50 lines at once, then one a second. The next line counts those that were left out.
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
    """Writes all strays to the log, within their rate limit."""

    def __init__(self) -> None:
        self._throttle = Throttle(BURST, PACE)

    def tell(self, level: int, event: str, **facts: Any) -> None:
        """Write this line, if the rate limit allows it."""
        left_out = self._throttle.due()
        if left_out is not None:
            log.log(level, event, **facts, **left_out)


class Library(logging.Handler):
    """The handler for the records that libraries give to `logging`."""

    def __init__(self, strays: Strays) -> None:
        super().__init__(logging.WARNING)
        self._strays = strays

    def emit(self, record: logging.LogRecord) -> None:
        """Make the record a line of the log."""
        try:
            said = record.getMessage()
        except Exception:
            said = str(record.msg)
        raised = {"exc_info": record.exc_info} if record.exc_info else {}
        level = logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING
        self._strays.tell(level, "a library says", library=record.name, said=cut(said.strip()), **raised)


class Text(io.TextIOBase):
    """A replacement for `sys.stderr`."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, strays: Strays) -> None:
        self._strays = strays
        self._rest = ""

    def writable(self) -> bool:
        """True: it takes text."""
        return True

    def write(self, text: str) -> int:
        """Make each line of the text a line of the log. An unfinished line waits for its end."""
        *lines, rest = (self._rest + text).split("\n")
        self._rest = rest[:LONG]
        for line in filter(str.strip, lines):
            self._strays.tell(logging.WARNING, "written to standard error", said=cut(line))
        return len(text)


def take_over() -> None:
    """From now on, all strays go to the log."""
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
