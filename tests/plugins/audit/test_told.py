"""Told: an event of a request that nobody read is the JSON that its fields make."""

from __future__ import annotations

import json

from plugins.audit.lines import EventLines
from plugins.audit.queue import EventQueue, SharedFields
from plugins.audit.told import ToldTraffic, begins
from tests.plugins.audit.declared import undeclared

PARTY = SharedFields({"principal": "User:zo\u00eb"})
HEADS = {b"t": '"type":"topic","operation":"Write","name":"t"'}
PARTITIONS = ((b"t", 0, 70, 2, 40, 41, -1, -1), (b"t", 1, 70, 2, -1, -1, 5, 6), (b"t", 2, -1, 0, -1, -1, -1, -1))
TOLD = ToldTraffic(100.0, PARTY, 4, '"api":"Produce","api_version":9', HEADS, (7, 300, 50, 1000, 12, PARTITIONS))


def test_it_says_what_was_found() -> None:
    event = TOLD.made()
    head = {"type": "topic", "operation": "Write", "name": "t"}
    assert event.fields == {
        "api": "Produce",
        "api_version": 9,
        "correlation_id": 7,
        "answered_by": "broker",
        "outcome": "answered",
        "request_bytes": 300,
        "response_bytes": 50,
        "broker_us": 1000,
        "proxy_us": 12,
        "errors": [],
        "resources": [
            {**head, "partition": 0, "bytes": 70, "records": 2, "first_offset": 40, "last_offset": 41},
            {**head, "partition": 1, "bytes": 70, "records": 2, "first_timestamp": 5, "last_timestamp": 6},
            {**head, "partition": 2},
        ],
    }
    assert (event.kind, event.at, event.shared, event.weight) == ("request", 100.0, PARTY, 4)


def test_its_line_is_the_same_whether_its_fields_are_made_or_not() -> None:
    swift, slow = EventLines("a", 0), EventLines("a", 0, lambda event: event)
    line = json.loads(swift.line(TOLD))
    assert line == json.loads(slow.line(TOLD))
    assert line["principal"] == "User:zo\u00eb"
    assert not undeclared(line)


def test_it_waits_in_the_queue_as_heavy_as_it_is() -> None:
    queue = EventQueue(room=7)
    assert [queue.put(TOLD), queue.put(TOLD)] == [True, False]
    assert queue.take() is TOLD


def test_what_cannot_be_written_has_no_beginning() -> None:
    assert begins({"type": "topic", "name": "t"}) == '"type":"topic","name":"t"'
    assert begins({"type": "topic", "name": "\ud800"}) is None
