"""Told: the event of an unread request has the same line as its fields would give, byte for byte."""

from __future__ import annotations

import json
import math
import random
import struct
from typing import Any
from weakref import ref

import pytest

from plugins.audit.events import Said
from plugins.audit.lines import EventLines
from plugins.audit.moved import PartitionTraffic
from plugins.audit.queue import QueuedEvent
from plugins.audit.request_schema import Resource
from plugins.audit.shared import SharedFields
from plugins.audit.told import (
    EVENT,
    GAPS,
    RESOURCE,
    ToldEvents,
    ToldTraffic,
    head,
    told_events,
    told_fields,
    told_traffic,
)
from plugins.audit.traffic import TrafficSubjects
from proxy.plugin import PRODUCE
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.written import START

PARTIES = [SharedFields({"connection": 1, "principal": name}) for name in ("User:zo\u00eb\n", "", "x" * 900)]
TOPICS = ["t", "orders-\u00e9\u2028", 'a "quoted" name\\', "n" * 249]
NUMBERS = [-(2**63), -7, -1, 0, 1, 9, 10, 1_700_000_000_123, 2**63 - 1]
PLAIN = (7, 300, 50, 1000, 12)


def numbers(event: tuple[int, ...], *resources: tuple[int, ...]) -> bytes:
    flat = [*event, *(number for one in resources for number in one)]
    return struct.pack(f"={len(flat)}q", *flat)


def traffic(party: SharedFields = PARTIES[0]) -> ToldTraffic:
    """Of each topic two partitions are known."""
    told = ToldTraffic(party, "Produce", 9)
    for cell in range(2 * len(TOPICS)):
        begins = head(resource(cell))
        assert begins is not None
        told.know(cell, TOPICS[cell // 2].encode(), begins)
    return told


def resource(cell: int) -> Resource:
    return TrafficSubjects(PRODUCE, 9).head(("topic", TOPICS[cell // 2], None), {}.get, None)


def fields(event: tuple[int, ...], resources: list[tuple[int, ...]]) -> Said:
    """As `events.py` and `traffic.py` make them of what was read."""
    subjects = TrafficSubjects(PRODUCE, 9)
    for cell, partition, size, records, first, last, earliest, latest in resources:
        moved = subjects.partitions[TOPICS[cell // 2], partition] = PartitionTraffic()
        moved.size, moved.records, moved.first_offset, moved.last_offset = size, records, first, last
        moved.first_timestamp, moved.last_timestamp = earliest, latest
    found = iter(event)
    said: Any = {"api": "Produce", "api_version": 9}
    said |= {name: next(found) if value == 0 else value for name, value in EVENT.items()}
    return {**said, "resources": subjects.resources({}.get)}


def generated(dice: random.Random) -> tuple[float, ToldTraffic, tuple[int, ...], list[tuple[int, ...]]]:
    event = tuple(dice.choice([dice.randrange(10**6), *NUMBERS]) for _ in range(5))
    partitions = dice.sample(range(-(2**31), 2**31), dice.choice([0, 1, 1, 1, 2, 40]))
    resources = [
        (dice.randrange(2 * len(TOPICS)), partition, *(dice.choice([dice.randrange(999), *NUMBERS]) for _ in range(6)))
        for partition in partitions
    ]
    at = dice.choice([START, START - 1e9, -START, 0.0]) + dice.choice([0, 1, 1e-6, 0.9999999, dice.random() * 9])
    return at, traffic(dice.choice(PARTIES)), event, resources


def test_lines_are_those_that_the_fields_make_whatever_the_numbers() -> None:
    dice = random.Random(3)
    for _ in range(40):
        swift, slow, kept = EventLines("3f9c2a71", 2), EventLines("3f9c2a71", 2), told_events()
        swift.sequence = slow.sequence = dice.choice([0, 98, 10**9])
        expected = []
        for _ in range(dice.choice([0, 1, 60])):
            at, told, event, resources = generated(dice)
            assert kept.add(at, 1, told.shared, told.begins, told.heads, numbers(event, *resources))
            expected.append(slow.line(QueuedEvent("request", at, told.shared, fields(event, resources))))
        assert swift.lines(kept) == expected
        assert swift.lines(kept) != expected or not expected, "the next time they have other sequences"
        assert swift.sequence == slow.sequence + len(expected)


def test_who_changes_events_is_given_the_same_fields() -> None:
    dice, kept, same = random.Random(4), told_events(), EventLines("a", 0, lambda event: event)
    for _ in range(50):
        at, told, event, resources = generated(dice)
        kept.add(at, 1, told.shared, told.begins, told.heads, numbers(event, *resources))
        at_, shared, said = next(told_fields(events_with(at, told, event, resources)))
        assert (at_, shared, said) == (at, told.shared, fields(event, resources))
    assert same.lines(kept) == EventLines("a", 0).lines(kept)


def events_with(at: float, told: ToldTraffic, event: tuple[int, ...], resources: list[tuple[int, ...]]) -> ToldEvents:
    kept = told_events()
    kept.add(at, 1, told.shared, told.begins, told.heads, numbers(event, *resources))
    return kept


def test_the_schema_declares_all_that_they_say() -> None:
    resources = [(0, 1, 70, 2, 40, 41, 5, 6)]
    (line,) = EventLines("a", 0).lines(events_with(START, traffic(), PLAIN, resources))
    said = json.loads(line)
    assert not undeclared(said)
    assert EVENT.keys() <= said.keys()
    assert said["resources"][0].keys() == RESOURCE.keys() | resource(0).keys()


def test_what_cannot_be_an_event_is_refused_and_leaves_nothing() -> None:
    kept, told = told_events(), traffic()

    def add(at: Any = START, begins: Any = told.begins, heads: Any = told.heads, found: Any = None) -> bool:
        return kept.add(at, 1, told.shared, begins, heads, numbers(PLAIN) if found is None else found)

    for at in (math.nan, math.inf, -math.inf, 1e300):
        with pytest.raises(ValueError, match="this is no moment"):
            add(at)
    for found in (b"", numbers(PLAIN)[:-1], numbers(PLAIN[:4]), numbers((*PLAIN, 1)), numbers(PLAIN, (0,) * 7)):
        with pytest.raises(ValueError, match="these are not the numbers of an event"):
            add(found=found)
    for cell in (-1, len(told.heads), 2**62):
        with pytest.raises(IndexError):
            add(found=numbers(PLAIN, (0,) * 8, (cell, *(0,) * 7)))
    with pytest.raises(IndexError):
        add(heads=["a text"], found=numbers(PLAIN, (0,) * 8))
    for wrong in ({"begins": "text"}, {"heads": ()}, {"found": "text"}, {"at": "now"}):
        with pytest.raises(TypeError):
            add(**wrong)
    assert (len(kept), kept.weight, kept.lines(b"", b"", 0), kept.whose()) == (0, 0, b"", [])
    for gaps in ((), GAPS[:-1], (*GAPS[:-1], "text")):
        with pytest.raises((ValueError, TypeError)):
            ToldEvents(gaps)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="this is no sequence"):
        kept.lines(b"", b"", -1)


def test_nothing_is_added_to_what_is_written_and_no_more_than_a_frame_takes() -> None:
    told, kept = traffic(), told_events()
    while kept.add(START, 2, told.shared, told.begins, told.heads, numbers(PLAIN, (0,) * 8)):
        assert len(kept) < 10_000
    assert kept.weight == 2 * len(kept)
    assert 1 << 18 < len(kept.lines(b"", b"", 0)) < 1 << 21
    for end in (ToldEvents.close, lambda events: events.lines(b"", b"", 0)):
        other = events_with(START, told, PLAIN, [])
        end(other)
        assert not other.add(START, 1, told.shared, told.begins, told.heads, numbers(PLAIN))


def test_what_cannot_be_written_has_no_beginning() -> None:
    assert head({"type": "topic", "name": "t"}) == b'"type":"topic","name":"t"'
    assert head({"type": "topic", "name": "\ud800"}) is None
    assert told_traffic(SharedFields({"principal": "\ud800"}), "Produce", 9) is None


def test_what_is_let_go_keeps_nothing() -> None:
    told = traffic(SharedFields({"principal": "User:alice"}))
    kept, shared = events_with(START, told, PLAIN, [(0,) * 8, (1,) * 8]), ref(told.shared)
    with pytest.raises(IndexError):
        kept.add(START, 1, told.shared, told.begins, told.heads, numbers(PLAIN, (0,) * 8, (99,) * 8))
    del told
    assert shared() is not None
    assert kept.whose() == [(START, shared())]
    del kept
    assert shared() is None
