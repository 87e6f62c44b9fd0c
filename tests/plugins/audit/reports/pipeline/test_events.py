"""Events: those of a period that match the filters, each once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.events import PeriodEvents
from plugins.audit.reports.report import Scope
from tests.plugins.audit.reports.frames import lines
from tests.plugins.audit.reports.pipeline.test_lines import EVENT

FACTS = JournalFacts("journal", True)


def event(sequence: int, hour: int = 8, topic: str = "orders", **more: Any) -> dict[str, Any]:
    time = f"2026-03-{hour // 24 + 1:02}T{hour % 24:02}:30:00.000000Z"
    return {**EVENT, "sequence": sequence, "time": time, "resources": [{"type": "topic", "name": topic}], **more}


def rows(spark: SparkSession, *events: dict[str, Any]) -> DataFrame:
    return lines(spark, [json.dumps(one) for one in events])


def sequences(frame: DataFrame) -> list[int]:
    return sorted(row.sequence for row in frame.collect())


def at(hour: int) -> datetime:
    return datetime(2026, 3, 1, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("scope", "found"),
    [(Scope.PERIOD, [2]), (Scope.FILTERED, [2]), (Scope.AROUND, [1, 2, 3]), (Scope.HISTORY, [0, 1, 2])],
)
def test_a_scope_says_which_times(spark: SparkSession, scope: Scope, found: list[int]) -> None:
    events = rows(spark, *(event(number, 7 + number) for number in range(6)))
    assert sequences(PeriodEvents(events, Inputs(FACTS, at(9), at(10))).of(scope)) == found


def test_an_event_at_the_beginning_of_a_period_is_in_it_and_one_at_its_end_is_not(spark: SparkSession) -> None:
    events = rows(spark, event(1, time="2026-03-01T09:00:00.000000Z"), event(2, time="2026-03-01T10:00:00.000000Z"))
    assert sequences(PeriodEvents(events, Inputs(FACTS, at(9), at(10))).of(Scope.PERIOD)) == [1]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"principals": ("User:alice",)}, [1]),
        ({"principals": ("User:*",)}, [1, 2]),
        ({"topics": ("pay*", "logs")}, [2, 3]),
        ({"topics": ("denied",)}, [4]),
        ({"principals": ("User:bob",), "topics": ("payments",)}, [2]),
        ({"principals": ("User:%",)}, []),
        ({"principals": ("User:ANONYMOUS", "User:bob")}, [2, 4]),
    ],
)
def test_filters_leave_what_was_asked_for(spark: SparkSession, filters: dict[str, Any], found: list[int]) -> None:
    asked = {"kind": "denied", "resources": None, "resource_type": "topic", "resource_name": "denied"}
    events = rows(
        spark,
        event(1, principal="User:alice"),
        event(2, topic="payments", principal="User:bob"),
        event(3, topic="logs", mechanism="GSSAPI"),
        event(4, **asked),
    )
    chosen = PeriodEvents(events, Inputs(FACTS, **filters))
    assert sequences(chosen.of(Scope.FILTERED)) == found
    assert sequences(chosen.of(Scope.PERIOD)) == [1, 2, 3, 4]


def test_other_topics_of_the_same_request_are_left_out_where_topics_were_asked_for(spark: SparkSession) -> None:
    named = [{"type": kind, "name": name} for kind, name in (("topic", "a"), ("topic", "b"), ("group", "g"))]
    unnamed = {"type": "topic", "id": "AAAAAAAAAAAAAAAAAAAAAQ"}
    changes = [{"change": "delete", "type": "topic", "name": name} for name in "ab"]
    events = rows(spark, event(1, resources=[*named, unnamed], changes=changes), event(2, resources=named[:1]))
    one, other = PeriodEvents(events, Inputs(FACTS, topics=("a",))).of(Scope.FILTERED).orderBy("sequence").collect()
    assert [resource.name for resource in one.resources] == ["a", "g"]
    assert [change.name for change in one.changes] == ["a"]
    assert other.changes is None


def test_an_event_that_the_journal_has_twice_counts_once(spark: SparkSession) -> None:
    chosen = PeriodEvents(rows(spark, event(1), event(2), event(1), event(1, worker=1)), Inputs(FACTS))
    assert chosen.repeated == 1
    assert sequences(chosen.of(Scope.PERIOD)) == [1, 1, 2]
    assert set(chosen.of(Scope.PERIOD).columns) == set(chosen.of(Scope.HISTORY).columns)


def test_of_copies_that_differ_it_is_always_the_same_one(spark: SparkSession) -> None:
    copies = [event(1, principal=name) for name in ("User:c", "User:a", "User:b")]
    for order in (copies, copies[::-1]):
        (row,) = PeriodEvents(rows(spark, *order), Inputs(FACTS)).of(Scope.PERIOD).collect()
        assert row.principal == "User:a"
