"""Logs: one line an event; readable on a terminal, JSON everywhere else.

# An event is a plain sentence without values ("broker does not answer"); what it is about stands in named
# fields beside it, those that hold for a whole connection bound once (`structlog.get_logger().bind(client=...)`).
# A field whose name speaks of a secret is never written, whatever it holds; nor are the variables of a traceback.
# What a client says of itself reaches a terminal without its control characters.
# Logs go to standard error, so that standard output stays for what a command was asked for.
"""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO

import structlog

Format = Literal["auto", "text", "json"]

_SECRET = re.compile(
    r"password|secret|passphrase|credential|private_?key|auth_bytes|(^|_)(token|hmac)($|_)", re.IGNORECASE
)
_FIRST = ("timestamp", "level", "event")
_tracebacks = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def configure(form: Format = "auto", *, verbose: bool = False, stream: TextIO | None = None) -> None:
    """Decide how this process logs. `auto` is text on a terminal and JSON elsewhere; `verbose` shows debug lines."""
    out = stream if stream is not None else sys.stderr
    text = form == "text" or (form == "auto" and out.isatty())
    ending: list[Any]
    if text:
        console = structlog.dev.ConsoleRenderer(
            colors=out.isatty(), pad_event_to=40, exception_formatter=structlog.dev.plain_traceback
        )
        ending = [_printable, console]
    else:
        ending = [_tracebacks, _in_order, structlog.processors.JSONRenderer(default=str)]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if text else "iso", utc=not text),
            _without_secrets,
            *ending,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def _without_secrets(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name in event:
        if _SECRET.search(name):
            event[name] = "***"
    return event


def _printable(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[name] = value.encode("unicode_escape").decode()
    return event


def _in_order(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {name: event[name] for name in _FIRST if name in event} | {
        name: value for name, value in event.items() if name not in _FIRST
    }
