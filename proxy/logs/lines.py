"""Lines: from an event and its fields to one line of text, or of JSON.

Rules:
* A field whose name sounds secret is never written, whatever its value. The variables of a traceback are never written.
* No control character is written, in either form. So foreign text cannot forge a second line or control a terminal. In
  text form, the lines of a traceback are indented, so that none of them looks like an event.
* A line is bounded: long texts and lists are cut. Texts of clients are cut shorter before they get here.
* Writing a line never raises, whatever its fields are.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, MutableMapping
from itertools import islice
from typing import Any, TextIO

import structlog
from structlog.types import ExcInfo

from proxy.logs.cut import LONG, cut
from proxy.logs.details import Details
from proxy.text.words import printable

LogEvent = MutableMapping[str, Any]

MOST = 50  # items of a list
FRAMES = 20  # of a traceback
LONGEST = 20_000  # characters of a traceback

_SECRET = re.compile(
    r"password|secret|passphrase|credential|private_?key|auth_bytes|(^|_)(token|hmac)($|_)", re.IGNORECASE
)
_FIRST = ("timestamp", "level", "event")
_tracebacks = structlog.processors.ExceptionRenderer(
    structlog.tracebacks.ExceptionDictTransformer(show_locals=False, max_frames=FRAMES)
)


def processors(*, text: bool, colors: bool = False, about: Mapping[str, object] | None = None) -> list[Any]:
    """The processors that make a line of an event. `about` stands in each line. The last processor returns the line."""
    common: list[Any] = [
        Details(),
        lambda logger, method, event: event | (about or {}),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if text else "iso", utc=not text),
        _without_secrets,
    ]
    if text:
        console = structlog.dev.ConsoleRenderer(colors=colors, pad_event_to=40, exception_formatter=_write_traceback)
        return [*common, _bounded, _printable, console]
    return [*common, _tracebacks, _bounded, _in_order, structlog.processors.JSONRenderer()]


def rendered(processors: list[Any], level: str, event: str, **facts: object) -> str:
    """The line that a logger would write for this event."""
    line: Any = {"event": event, **facts}
    for processor in processors:
        line = processor(None, level, line)
    assert isinstance(line, str)
    return line


def _without_secrets(logger: object, method: str, event: LogEvent) -> LogEvent:
    for name in event:
        if _SECRET.search(name):
            event[name] = "***"
    return event


def _bounded(logger: object, method: str, event: LogEvent) -> LogEvent:
    return {name: value if name == "exc_info" else _within(value) for name, value in event.items()}


def _within(value: object) -> object:
    """The value as plain data, cut to a size that fits into a line."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {cut(_said(key)): _within(item) for key, item in islice(value.items(), MOST)}
    if isinstance(value, list | tuple | set | frozenset):
        more = [f"… ({len(value)} items)"] if len(value) > MOST else []
        return [_within(item) for item in islice(value, MOST)] + more
    return cut(_said(value), LONG)


def _said(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _printable(logger: object, method: str, event: LogEvent) -> LogEvent:
    return {name: printable(value) if isinstance(value, str) else value for name, value in event.items()}


def _write_traceback(out: TextIO, error: ExcInfo) -> None:
    for line in cut("".join(traceback.format_exception(*error, limit=-FRAMES)), LONGEST).splitlines():
        out.write(f"\n    {printable(line)}")


def _in_order(logger: object, method: str, event: LogEvent) -> LogEvent:
    return {name: event[name] for name in _FIRST if name in event} | {
        name: value for name, value in event.items() if name not in _FIRST
    }
