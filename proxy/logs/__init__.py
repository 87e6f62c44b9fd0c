"""Logs: one line an event; readable on a terminal, JSON everywhere else.

# An event is a plain sentence without values ("broker does not answer"); what it is about stands in named
# fields beside it, those that hold for a whole connection bound once (`structlog.get_logger().bind(client=...)`).
# Logs go to standard error, so that standard output stays for what a command was asked for.
# Logging never fails and never waits, whatever standard error is (`writer.py`); what is in a line: `lines.py`.
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
from proxy.logs.writer import Writer

Format = Literal["auto", "text", "json"]

STANDARD_ERROR = 2
LAST_WORDS = 2.0  # seconds that the last lines have where nobody takes them

_writers: list[Writer] = []  # of this process: one, once `begin` was called


def begin(form: Format = "auto", *, verbose: bool = False, **about: object) -> None:
    """Log to standard error from here to the end of this process, and all that is said there by itself too.

    `auto` is text on a terminal and JSON elsewhere; `verbose` shows debug lines; `about` stands in each line.
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
    atexit.register(writer.flush, LAST_WORDS)


def dropped() -> int:
    """Lines of this process that standard error did not take, since the start."""
    return sum(writer.dropped for writer in _writers)


def configure(
    write: Callable[[str], object],
    form: Format = "auto",
    *,
    terminal: bool = False,
    verbose: bool = False,
    about: Mapping[str, object] | None = None,
) -> list[Any]:
    """Give each line to `write`. Gives the processors that make a line."""
    line = processors(text=form == "text" or (form == "auto" and terminal), colors=terminal, about=about)
    structlog.configure(
        processors=line,
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else logging.INFO),
        logger_factory=lambda *_: Sink(write),
        cache_logger_on_first_use=False,
    )
    return line


class Sink:
    """What structlog calls a logger: takes lines, whatever their level."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.msg = self.debug = self.info = self.warning = self.error = self.critical = self.exception = write


def _hold_standard_streams() -> None:
    """What is closed would be the next socket that is opened, and a client would read the log."""
    for descriptor in range(STANDARD_ERROR + 1):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest one that is free
