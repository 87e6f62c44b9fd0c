"""Ended: requests whose event needs only the results of their resources."""

from __future__ import annotations

from plugins.audit.ended import EndedRequest, FoundResource
from plugins.audit.levels import FoundLevel, Level
from plugins.audit.moved import PartitionTraffic
from plugins.audit.party import KnownParty
from plugins.audit.traffic import TrafficSubjects
from proxy.plugin import PRODUCE, By, Context, ErrorCode, HandlerDecided, Outcome
from proxy.testing import FakeWorker, connection

NOT_LEADER = ErrorCode["NOT_LEADER_OR_FOLLOWER"]
BY_BROKER = Outcome(By.BROKER, None, 1.0, 1.001, 1.002, 1.003, 100, 50)


def ended(outcome: Outcome = BY_BROKER) -> EndedRequest:
    client = connection()
    known = KnownParty(1, FakeWorker().services())
    subjects = TrafficSubjects(PRODUCE, 9)
    return EndedRequest(Context(client, PRODUCE, 9, 1), outcome, subjects, 100.0, known, known.of(client), None, None)


def found(error: int) -> list[FoundResource]:
    """One partition, and what came of it."""
    moved = PartitionTraffic()
    moved.error = error
    return [FoundResource(FoundLevel(Level.SUMMARY, 10.0), ("topic", "orders", 0), "orders", moved)]


def test_one_that_the_broker_answered_is_plain() -> None:
    assert ended().is_plain(found(0))
    assert ended().is_plain([])


def test_one_that_somebody_else_answered_or_decided_is_not() -> None:
    assert not ended(BY_BROKER._replace(by=By.NOBODY)).is_plain(found(0))
    assert not ended(BY_BROKER._replace(decisions=(HandlerDecided("faults", "error"),))).is_plain(found(0))


def test_one_that_wants_no_answer_is_plain_without() -> None:
    one = ended(BY_BROKER._replace(by=By.NOBODY))
    one.subjects.wants_answer = False
    assert one.is_plain(found(0))


def test_an_error_is_counted_with_its_resource_and_any_other_is_not() -> None:
    one = ended()
    one.subjects.errors = {NOT_LEADER.name: None}
    assert one.is_plain(found(NOT_LEADER))
    assert not one.is_plain(found(0))


def test_one_of_more_resources_than_are_kept_is_not_plain() -> None:
    one = ended()
    one.subjects.left_out = 1
    assert not one.is_plain(found(0))
