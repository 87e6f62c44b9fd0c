"""Lines: events as they stand in the journal."""

from __future__ import annotations

import json

from plugins.audit.lines import LONGEST, EventLines
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.shared import SharedFields
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.written import START


def test_an_event_is_stamped_with_its_place_in_the_chain() -> None:
    lines = EventLines("3f9c2a71", 2)
    party = SharedFields({"principal": "User:zo\u00eb\n"})
    first = lines.line(QueuedEvent("request", START + 0.25, party, {"api": "Fetch"}))
    assert first.endswith(b"}\n")
    assert first.count(b"\n") == 1
    assert json.loads(first) == {
        "kind": "request",
        "schema": 3,
        "time": "2026-03-01T08:00:00.250000Z",
        "instance": "3f9c2a71",
        "worker": 2,
        "sequence": 1,
        "principal": "User:zo\u00eb\n",
        "api": "Fetch",
    }
    assert json.loads(lines.line(QueuedEvent("journal_closed", START + 1, None, {})))["sequence"] == 2
    assert lines.sequence == 2


def test_times_are_right_whatever_their_order() -> None:
    lines = EventLines("a", 0)
    moments = [START + 59.9999999, START, START + 0.000001, START - 1]
    written = [json.loads(lines.line(QueuedEvent("request", at, None, {})))["time"][11:] for at in moments]
    assert written == ["08:01:00.000000Z", "08:00:00.000000Z", "08:00:00.000001Z", "07:59:59.000000Z"]


def test_what_cannot_be_written_is_told_as_lost() -> None:
    lines = EventLines("a", 0)
    for fields in ({"api": object()}, {"api": "\ud800"}):
        event = json.loads(lines.line(QueuedEvent("request", START, None, fields)))
        assert (event["kind"], event["lost"], event["lost_from"]) == ("events_lost", 1, "2026-03-01T08:00:00.000000Z")
        assert not undeclared(event)
    assert lines.sequence == 2


def test_what_is_too_long_for_a_frame_is_told_as_lost() -> None:
    lines = EventLines("a", 0)
    longest = QueuedEvent("request", START, None, {"api": "x" * (LONGEST - len('"api":""'))})
    assert json.loads(lines.line(longest))["kind"] == "request"
    assert json.loads(lines.line(longest._replace(fields={"api": "x" * LONGEST})))["kind"] == "events_lost"


def test_a_loss_says_how_many_and_when() -> None:
    loss = Loss(START)
    loss.add(START)
    loss.add(START + 3)
    event = json.loads(EventLines("a", 0).line(loss))
    assert (event["lost"], event["lost_from"], event["lost_to"], event["time"]) == (
        2,
        "2026-03-01T08:00:00.000000Z",
        "2026-03-01T08:00:03.000000Z",
        "2026-03-01T08:00:03.000000Z",
    )
