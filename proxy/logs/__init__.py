"""Logs: one line an event; readable on a terminal, JSON everywhere else.

Rules:
* An event is a plain sentence without values ("broker does not answer"). Its values stand in named fields beside it.
* Fields of a whole connection are bound once (`structlog.get_logger().bind(client=...)`).
* Logs go to standard error, so that standard output carries only a command's result.
* Logging never fails and never blocks, whatever standard error is (`writer.py`). `lines.py` says what a line contains.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import structlog

from proxy.logs import strays
from proxy.logs.lines import processors, rendered
from proxy.logs.writer import THREAD, Writer

__all__ = ["THREAD", "Format", "begin", "configure", "dropped", "flush"]

Format = Literal["auto", "text", "json"]

STANDARD_ERROR = 2
LAST_WORDS = 2.0  # seconds that the last lines have to be written, if nobody reads them

_writers: list[Writer] = []  # the writer of this process, once `begin` was called


def begin(form: Format = "auto", *, verbose: bool = False, **about: object) -> None:
    """Log to standard error from here to the end of this process. Other writes to standard error become log lines too.

    `auto` is text on a terminal and JSON elsewhere. `verbose` shows debug lines. `about` has fields for every line.
    """
    _hold_standard_streams()
    terminal = os.isatty(STANDARD_ERROR)

    def notice(dropped: int) -> str:
        why = "standard error was full, closed, or not read"
        return rendered(line, "warning", "log lines dropped", lines=dropped, why=why)

    writer = Writer(STANDARD_ERROR, notice)
    line = configure(writer.write, form, terminal=terminal, verbose=verbose, about=about)
    _writers.append(writer)
    strays.take_over()
    atexit.register(flush)


def flush() -> None:
    """Wait until all lines are written, but not for long."""
    for writer in _writers:
        writer.flush(LAST_WORDS)


def dropped() -> int:
    """How many lines of this process standard error did not take, since the start."""
    return sum(writer.dropped for writer in _writers)


def configure(
    write: Callable[[str], object],
    form: Format = "auto",
    *,
    terminal: bool = False,
    verbose: bool = False,
    about: Mapping[str, object] | None = None,
) -> list[Any]:
    """Give each line to `write`. Returns the processors that make a line."""
    line = processors(text=form == "text" or (form == "auto" and terminal), colors=terminal, about=about)
    structlog.configure(
        processors=line,
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else logging.INFO),
        logger_factory=lambda *_: Sink(write),
        cache_logger_on_first_use=False,
    )
    return line


class Sink:
    """A logger in structlog's sense: it writes lines of every level."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.msg = self.debug = self.info = self.warning = self.error = self.critical = self.exception = write


def _hold_standard_streams() -> None:
    """Open closed standard streams. Otherwise a socket could get the number of one, and its peer would read the log."""
    for descriptor in range(STANDARD_ERROR + 1):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free descriptor
