"""An event of the journal as a CloudEvent: the envelope, with the event itself unchanged."""

from __future__ import annotations

import json

from plugins.audit.cloudevents import chain_key, record, source
from plugins.audit.lines import EventLines
from plugins.audit.queue import QueuedEvent
from plugins.audit.schema import VERSION
from plugins.audit.shared import SharedFields
from tests.plugins.audit.written import START

PARTY = SharedFields({"principal": 'User:"alice"', "client_id": "café"})
FIELDS = {"api": "Produce", "errors": []}


def lines() -> tuple[bytes, bytes]:
    made = EventLines("3f9c2a71", 2)
    return made.line(QueuedEvent("segment_opened", START, None, {})), made.line(
        QueuedEvent("request", START + 0.1234, PARTY, FIELDS)
    )


def test_an_event_stands_in_an_envelope_that_names_it() -> None:
    _, line = lines()
    made = record(line, chain_key("3f9c2a71", 2), source("main"))
    assert made.headers == (("content-type", b"application/cloudevents+json"),)
    assert (made.key, made.timestamp) == (b"3f9c2a71/2", 1772352000123)
    assert json.loads(bytes(made.value or b"")) == {
        "specversion": "1.0",
        "id": "3f9c2a71/2/2",
        "source": "/doorkeeper/main",
        "type": "doorkeeper.audit.request",
        "time": "2026-03-01T08:00:00.123400Z",
        "subject": 'User:"alice"',
        "datacontenttype": "application/json",
        "dataschema": f"urn:doorkeeper:audit:{VERSION}",
        "data": json.loads(line),
    }


def test_the_event_is_byte_for_byte_that_of_the_journal() -> None:
    for line in lines():
        assert bytes(record(line, b"k", "s").value or b"").endswith(b'"data":' + line.rstrip() + b"}")


def test_an_event_of_nobody_has_no_subject() -> None:
    line, _ = lines()
    assert "subject" not in json.loads(bytes(record(line, b"k", "s").value or b""))
