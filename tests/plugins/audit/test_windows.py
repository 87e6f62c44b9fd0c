"""Windows: exact counts, written when a window ends, and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.audit import window_counts
from plugins.audit import windows as module
from plugins.audit.moved import Counted, PartitionTraffic
from plugins.audit.request_schema import Resource
from plugins.audit.shared import SharedFields
from plugins.audit.windows import WindowKey, Windows
from proxy.plugin import FETCH, PRODUCE, By, Outcome

PARTY = SharedFields({"principal": "User:alice"})
KEY = WindowKey(1, PARTY, PRODUCE, 9)


def moved(records: int, first: int = -1, error: int = 0) -> PartitionTraffic:
    one = PartitionTraffic()
    one.records, one.size, one.error = records, records * 10, error
    if first >= 0:
        one.first_offset, one.last_offset = first, first + records - 1
    return one


def head(key: Counted) -> Resource:
    return {"type": key[0], "name": str(key[1])}


def outcome(*, left: float | None = 1.003) -> Outcome:
    by = By.NOBODY if left is None else By.BROKER
    return Outcome(by, None, 1.0, 1.001, None if left is None else 1.002, left, 100, 50)


def count(windows: Windows, at: float, one: PartitionTraffic, key: WindowKey = KEY, **more: Any) -> bool:
    return windows.count(key, at, 10.0, outcome(**more), [(("topic", "t", 0), one)], head)


def test_a_window_is_written_when_it_is_over() -> None:
    windows = Windows()
    count(windows, 100.0, moved(3, 40))
    count(windows, 109.0, moved(2, 30))
    count(windows, 109.5, moved(4, error=6))
    assert windows.due(109.9) == []
    (event,) = windows.due(110.0)
    assert windows.due(200.0) == []
    fields = event.fields
    assert (event.kind, event.shared, fields["requests"]) == ("summary", PARTY, 3)
    assert (fields["request_bytes"], fields["response_bytes"], fields["without_answer"]) == (300, 150, 0)
    assert (fields["broker_us"], fields["broker_us_most"], fields["proxy_us_most"]) == (3000, 1000, 2000)
    assert (fields["window_from"], fields["window_to"]) == (
        "1970-01-01T00:01:40.000000Z",
        "1970-01-01T00:01:49.500000Z",
    )
    assert fields["resources"] == [
        {
            "type": "topic",
            "name": "t",
            "partition": 0,
            "requests": 3,
            "records": 5,
            "bytes": 50,
            "first_offset": 30,
            "last_offset": 42,
            "failures": [{"error": "NOT_LEADER_OR_FOLLOWER", "requests": 1, "records": 4}],
        }
    ]
    assert fields["errors"] == ["NOT_LEADER_OR_FOLLOWER"]


def test_a_connection_that_ends_has_its_windows_at_once_and_no_other() -> None:
    windows = Windows()
    count(windows, 100.0, moved(1))
    count(windows, 100.0, moved(1), WindowKey(1, PARTY, FETCH, 4))
    count(windows, 100.0, moved(1), WindowKey(2, PARTY, PRODUCE, 9))
    assert [event.fields["api"] for event in windows.of(1)] == ["Produce", "Fetch"]
    assert len(windows.due(1000.0)) == 1


def test_a_client_that_is_somebody_else_has_another_window() -> None:
    windows = Windows()
    count(windows, 100.0, moved(1))
    count(windows, 100.0, moved(1), KEY._replace(party=SharedFields({"principal": "User:bob"})))
    assert len(windows.of(1)) == 2


def test_requests_that_want_no_answer_are_counted_apart() -> None:
    windows = Windows()
    count(windows, 100.0, moved(1), left=None)
    (event,) = windows.of(1)
    assert (event.fields["requests"], event.fields["without_answer"]) == (1, 1)


def test_what_is_counted_is_bounded_and_there_is_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 4)
    windows = Windows()
    keys = [KEY._replace(connection=number) for number in range(3)]
    assert [count(windows, 100.0, moved(1), key) for key in keys] == [True, True, False]
    windows.of(0)
    assert count(windows, 100.0, moved(1), keys[2])
    for number in (1, 2):
        windows.of(number)
    assert windows._size == 0


def named(windows: Windows, name: str, key: WindowKey = KEY) -> bool:
    return windows.count(key, 100.0, 10.0, outcome(), [(("topic", name, 0), moved(1))], head)


def test_long_names_of_topics_and_clients_take_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    windows, told = Windows(), 0
    while named(windows, f"{told:08}" + "x" * 4_000):
        told += 1
    assert told == 9
    windows, told = Windows(), 0
    while named(windows, "t", KEY._replace(party=SharedFields({"client_id": f"{told:08}" + "x" * 4_000}))):
        told += 1
    assert told == 9


@pytest.mark.parametrize(("limit", "most"), [("MOST_OF_ONE", 3), ("MOST_TEXT", 3)])
def test_a_window_that_is_full_is_over(monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    monkeypatch.setattr(window_counts, limit, most)
    windows = Windows()
    assert [named(windows, name) for name in "abca"] == [True, True, True, True]
    assert not named(windows, "d"), "it is told in full"
    (event,) = windows.due(100.0)
    assert event.fields["requests"] == 4
    assert named(windows, "d")


def test_a_request_of_many_partitions_always_has_room_in_a_window_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_counts, "MOST_OF_ONE", 3)
    about = [(("topic", "t", number), moved(1)) for number in range(5)]
    assert Windows().count(KEY, 100.0, 10.0, outcome(), about, head)


def test_windows_that_began_when_they_were_longer_are_over_when_the_longest_is() -> None:
    windows = Windows()
    windows.count(KEY, 100.0, 3600.0, outcome(), [], head)
    assert windows.due(109.0, 10.0) == []
    assert len(windows.due(110.0, 10.0)) == 1


def test_a_window_is_over_where_the_clock_is_set_back() -> None:
    windows = Windows()
    count(windows, 1_000.0, moved(1))
    assert windows.due(999.5) == []
    (event,) = windows.due(100.0)
    assert event.fields["requests"] == 1


def test_a_request_that_is_told_late_is_within_the_times_of_its_window() -> None:
    windows = Windows()
    count(windows, 100.0, moved(1))
    count(windows, 99.0, moved(1))
    (event,) = windows.of(1)
    assert (event.fields["window_from"], event.fields["window_to"]) == (
        "1970-01-01T00:01:39.000000Z",
        "1970-01-01T00:01:40.000000Z",
    )


def test_nothing_is_counted_unread_in_a_window_that_does_not_know_it() -> None:
    windows = Windows()
    count(windows, 100.0, moved(1))
    assert windows.tally(KEY, object, [("topic", "t", 0)]) is not None  # type: ignore[arg-type]
    assert windows.tally(KEY, object, [("topic", "t", 1)]) is None  # type: ignore[arg-type]
    assert windows.tally(KEY._replace(connection=2), object, []) is None  # type: ignore[arg-type]
