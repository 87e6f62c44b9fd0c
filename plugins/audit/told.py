"""Told: the events of Produce and Fetch requests that were not read.

Rules:
* They have the same fields as `events.py` makes for requests that were read; a test plays the same requests through
  both.
* They are kept as numbers, in the order in which they happened, and written as lines all at once (`_told.c`). The text
  between the numbers is made here, from the schema's declaration. An event costs 1 us so, and 5 in plain Python.
* Without the compiled module there are none: every request is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError

from plugins.audit.request_schema import Ended, Resource
from plugins.audit.schema import EventStamp
from plugins.audit.shared import SharedFields, fields_json

if TYPE_CHECKING:
    from plugins.audit._told import ToldEvents as ToldEvents
else:
    try:
        from plugins.audit._told import ToldEvents
    except ImportError:
        ToldEvents = None

EVENT: Ended = {  # each 0 stands for a number that is found in a request and its answer
    "correlation_id": 0,
    "answered_by": "broker",
    "outcome": "answered",
    "request_bytes": 0,
    "response_bytes": 0,
    "broker_us": 0,
    "proxy_us": 0,
    "errors": [],
    "resources": [],
}
RESOURCE: Resource = {
    "partition": 0,
    "bytes": 0,
    "records": 0,
    "first_offset": 0,
    "last_offset": 0,
    "first_timestamp": 0,
    "last_timestamp": 0,
}


def _gaps(fields: Any) -> list[bytes]:
    """The texts before each number, and after the last one."""
    return (b"," + fields_json(fields)).split(b"0")


GAPS = (*_gaps(EVENT)[:-1], _gaps(EVENT)[-1].removesuffix(b"]"), *_gaps(RESOURCE)[:-1])


class ToldTraffic:
    """The fields that events of one client, API and version share.

    `heads`: the first bytes of a resource, by the number of its cell in the tally; `topics`: the same by topic.
    """

    def __init__(self, shared: SharedFields, api: str, version: int) -> None:
        asked: Ended = {"api": api, "api_version": version}
        self.shared = shared
        self.weight = 1 + shared.weight  # of an event without a resource
        self.begins = b",".join([b"", shared.json, fields_json(asked)])
        self.heads: list[bytes] = []
        self.topics: dict[bytes, bytes] = {}

    def know(self, cell: int, topic: bytes, begins: bytes) -> None:
        """Note the first bytes of the resource of this cell. New cells have consecutive numbers."""
        self.topics[topic] = begins
        if cell == len(self.heads):
            self.heads.append(begins)


def told_traffic(shared: SharedFields, api: str, version: int) -> ToldTraffic | None:
    """The shared fields; None: such requests must be read."""
    try:
        return None if ToldEvents is None else ToldTraffic(shared, api, version)
    except (PydanticSerializationError, ValueError):
        return None


def head(resource: Resource) -> bytes | None:
    """The first bytes of a resource with these fields; None: they cannot be written as JSON."""
    try:
        return fields_json(resource)
    except (PydanticSerializationError, ValueError):
        return None


def told_events() -> ToldEvents:
    """A new, empty entry for such events."""
    return ToldEvents(GAPS)


def told_fields(events: ToldEvents) -> Iterator[tuple[float, SharedFields, dict[str, Any]]]:
    """The events one by one, to be redacted: the time, the shared fields and the own fields of each."""
    lines = events.lines(b'{"kind":"', b'","sequence":', 0).splitlines()
    for (at, shared), line in zip(events.whose(), lines, strict=True):
        apart = shared.fields.keys() | EventStamp.__annotations__.keys()
        yield at, shared, {name: value for name, value in json.loads(line).items() if name not in apart}
