"""Lines: events as the journal has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import nan

import pytest
from pydantic_core import PydanticSerializationError

from plugins.audit.lines import LONGEST, EventLines, TooLongError
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.shared import SharedFields
from tests.plugins.audit.written import START


def test_an_event_is_stamped_with_its_place_in_the_chain() -> None:
    lines = EventLines("3f9c2a71", 2)
    party = SharedFields({"principal": "User:zo\u00eb\n"})
    first = lines.line(QueuedEvent("request", START + 0.25, party, {"api": "Fetch"}))
    assert first.endswith(b"}\n")
    assert first.count(b"\n") == 1
    assert json.loads(first) == {
        "kind": "request",
        "schema": 5,
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


def fail(event: QueuedEvent) -> QueuedEvent:
    raise KeyError(event.kind)


@pytest.mark.parametrize(
    ("entry", "redact"),
    [
        (QueuedEvent("request", START, None, {"api": object()}), None),
        (QueuedEvent("request", START, None, {"api": "\ud800"}), None),
        (QueuedEvent("request", nan, None, {}), None),
        (QueuedEvent("request", 1e300, None, {}), None),
        (QueuedEvent("request", START, None, {}), fail),
    ],
)
def test_what_cannot_be_written_raises_and_takes_no_number(
    entry: QueuedEvent, redact: Callable[[QueuedEvent], QueuedEvent] | None
) -> None:
    lines = EventLines("a", 0, redact)
    with pytest.raises((PydanticSerializationError, ValueError, OverflowError, KeyError)):
        lines.lines(entry)
    assert lines.sequence == 0


def test_what_is_too_long_for_a_frame_raises() -> None:
    lines = EventLines("a", 0)
    longest = QueuedEvent("request", START, None, {"api": "x" * (LONGEST - len('"api":""'))})
    assert json.loads(lines.line(longest))["kind"] == "request"
    with pytest.raises(TooLongError):
        lines.lines(longest._replace(fields={"api": "x" * LONGEST}))


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
