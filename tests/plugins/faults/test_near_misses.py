"""Each near miss is noted once, and only the first few of each fault."""

from __future__ import annotations

from plugins.faults.near_misses import FEW, NearMisses
from rules.match import Match, Subject

PAYMENTS = Match.model_validate({"topic": "payments"})
ORDERS = Subject("orders", 0)


def test_a_reason_is_new_once_for_each_fault() -> None:
    near = NearMisses()
    assert [near.is_new(name, "why") for name in ("one", "one", "other")] == [True, False, True]


def test_of_each_fault_only_the_first_few_reasons_are_noted() -> None:
    near = NearMisses()
    assert [near.is_new("one", str(number)) for number in range(FEW + 2)] == [True] * FEW + [False] * 2


def test_a_subject_is_compared_with_a_fault_once() -> None:
    near = NearMisses()
    said = [near.unlike(name, PAYMENTS, ORDERS) for name in ("one", "one", "other")]
    assert said == ['topic is "orders", not "payments"', "", 'topic is "orders", not "payments"']


def test_subjects_without_end_are_not_all_remembered() -> None:
    near = NearMisses()
    for number in range(FEW + 1):
        assert near.unlike("one", PAYMENTS, Subject(f"orders-{number}", 0))
    assert near.unlike("one", PAYMENTS, Subject("orders-0", 0))


def test_no_subject_is_compared_once_enough_reasons_are_noted() -> None:
    near = NearMisses()
    for number in range(FEW):
        assert near.is_new("one", str(number))
    assert near.unlike("one", PAYMENTS, ORDERS) == ""
    assert near.unlike("other", PAYMENTS, ORDERS)


def test_other_faults_of_the_same_name_begin_anew() -> None:
    near = NearMisses()
    for name in ("gone", "kept"):
        assert near.is_new(name, "why")
        assert near.unlike(name, PAYMENTS, ORDERS)
    near.keep({"kept"})
    assert [near.is_new(name, "why") for name in ("gone", "kept")] == [True, False]
    assert [bool(near.unlike(name, PAYMENTS, ORDERS)) for name in ("gone", "kept")] == [True, False]
