"""Lines: an event as a line of the journal, which is JSON with its place in the chain.

An event that cannot be written as JSON, or is too long for a frame, raises an exception. Then nothing has changed, and
an `events_lost` takes its place (`writing.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from plugins.audit.frames import LARGEST
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.schema import VERSION
from plugins.audit.shared import fields_json
from plugins.audit.told import ToldEvents, told_fields

LONGEST = LARGEST * 3 // 4  # bytes of a line, more than the names and changes of one request can make

TOLD = "request"  # the kind of the events that `told.py` keeps


class TooLongError(ValueError):
    """The line of an event would be too long to be read."""


def _begin(kind: str) -> str:
    return f'{{"kind":"{kind}","schema":{VERSION},"time":"'


def timestamp(seconds: float) -> str:
    """A time as it stands in the journal; `seconds` since 1970."""
    second, rest = divmod(round(seconds * 1e6), 1_000_000)
    return f"{_date_time(second)}.{rest:06}Z"


def _date_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


class EventLines:
    """Makes the lines of one chain. `sequence`: the number of the last line. `redact` gives the redacted event."""

    def __init__(self, instance: str, worker: int, redact: Callable[[QueuedEvent], QueuedEvent] | None = None) -> None:
        self._redact = redact
        self.sequence = 0
        self._chain = f'","instance":"{instance}","worker":{worker},"sequence":'
        self._second = -1  # the second that `_text` has
        self._text = ""

    def lines(self, entry: QueuedEvent | ToldEvents | Loss) -> list[bytes]:
        """The lines of all events in an entry, each with its line feed. Raises if one of them cannot be written."""
        sequence = self.sequence
        try:
            return self._lines(entry)
        except Exception:
            self.sequence = sequence
            raise

    def _lines(self, entry: QueuedEvent | ToldEvents | Loss) -> list[bytes]:
        if isinstance(entry, QueuedEvent | Loss):
            return [self.line(entry)]
        if self._redact is not None:
            return [self.line(QueuedEvent(TOLD, at, shared, said)) for at, shared, said in told_fields(entry)]
        made = entry.lines(_begin(TOLD).encode(), self._chain.encode(), self.sequence)
        self.sequence += len(entry)
        return made.splitlines(keepends=True)

    def line(self, entry: QueuedEvent | Loss) -> bytes:
        """The line of an event, with its line feed."""
        if isinstance(entry, Loss):
            return self._lost(entry.count, entry.since, entry.until)
        if self._redact is not None:
            entry = self._redact(entry)
        said = fields_json(entry.fields)
        shared = b"" if entry.shared is None else entry.shared.json
        if len(shared) + len(said) > LONGEST:
            raise TooLongError
        return b",".join([self._stamp(entry.kind, entry.at).encode(), *filter(None, (shared, said))]) + b"}\n"

    def _lost(self, count: int, since: float, until: float) -> bytes:
        fields = {"lost": count, "lost_from": self._time(since), "lost_to": self._time(until)}
        return self._stamp("events_lost", until).encode() + b"," + json.dumps(fields).encode()[1:] + b"\n"

    def _stamp(self, kind: str, at: float) -> str:
        self.sequence += 1
        return f"{_begin(kind)}{self._time(at)}{self._chain}{self.sequence}"

    def _time(self, at: float) -> str:
        """A timestamp. The text of a second is made once for all events in it."""
        micros = round(at * 1e6)
        second, rest = divmod(micros, 1_000_000)
        if second != self._second:
            self._second, self._text = second, _date_time(second)
        return f"{self._text}.{rest:06}Z"
