"""The checker finds all anomalies of a history, and nothing else."""

import time
from random import Random

import pytest

from chaos.anomalies import AnomalyKind
from chaos.history import History
from chaos.notes import ClientHistory
from tests.chaos.scripted import PLANTED, clean, played

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_history_has_no_anomaly(seed: int) -> None:
    assert str(played(clean(seed)).check()) == "no anomalies"


@pytest.mark.parametrize("kind", AnomalyKind)
def test_a_planted_anomaly_is_found_and_nothing_else(kind: AnomalyKind) -> None:
    for seed in SEEDS:
        script = clean(seed)
        PLANTED[kind](script, Random(seed))
        found = played(script).check()
        assert found.kinds == {kind}, f"seed {seed}: {found}"


def test_a_lost_write_is_shown_by_its_send_its_acknowledgement_and_a_read_beyond() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    for offset in range(3):
        producer.send("orders", f"order-{offset}").acknowledged(0, offset)
    consumer.read("orders", 0, 0, "order-0")
    consumer.read("orders", 0, 2, "order-2")
    assert str(history.check()) == (
        "1 x lost write\n"
        "lost write: orders-0 offset 1\n"
        "    #3 producer sent order-1 to orders\n"
        "    #4 producer was told orders-0 offset 1\n"
        "    #8 consumer read order-2 at orders-0 offset 2"
    )


def test_what_nobody_was_told_of_may_be_there_or_not() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    producer.send("orders", "there")
    producer.send("orders", "not there")
    consumer.read("orders", 0, 0, "there")
    assert not history.check()


def test_a_client_that_tries_again_after_a_failure_has_sent_once() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    producer.send("orders", "order").failed()
    producer.send("orders", "order").acknowledged(0, 0)
    consumer.read("orders", 0, 0, "order")
    assert not history.check()


def test_a_client_that_tries_again_after_a_lost_answer_may_have_sent_twice() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    producer.send("orders", "order")
    producer.send("orders", "order").acknowledged(0, 1)
    consumer.read("orders", 0, 0, "order")
    consumer.read("orders", 0, 1, "order")
    assert history.check().kinds == {AnomalyKind.DUPLICATE}


def test_a_record_that_stands_elsewhere_than_was_told_is_an_inconsistent_offset() -> None:
    history = History()
    history.client("producer").send("orders", "order").acknowledged(0, 4)
    history.client("consumer").read("orders", 0, 5, "order")
    (found,) = history.check()
    assert (found.kind, found.place) == (AnomalyKind.INCONSISTENT_OFFSET, "orders-0 offset 4")


def test_half_of_a_transaction_proves_that_the_other_half_must_be_there() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    transaction = producer.begin()
    for offset in range(2):
        transaction.send("orders", f"order-{offset}").acknowledged(0, offset)
    transaction.commits()  # and the answer is lost
    consumer.read("orders", 0, 1, "order-1")
    (found,) = history.check()
    assert (found.kind, found.place) == (AnomalyKind.LOST_WRITE, "orders-0 offset 0")


def test_a_transaction_of_unknown_outcome_may_be_gone_as_a_whole() -> None:
    history = History()
    transaction = history.client("producer").begin()
    transaction.send("orders", "order").acknowledged(0, 0)
    transaction.commits()
    assert not history.check()


def test_a_commit_in_a_transaction_that_was_aborted_is_none() -> None:
    history = History()
    consumer = history.client("consumer", group="billing")
    history.client("producer").send("orders", "order").acknowledged(0, 0)
    consumer.reads_from("orders", 0, 0)
    transaction = consumer.begin()
    consumer.commit("orders", 0, 1, transaction)
    transaction.aborted()
    assert history.check().kinds == {AnomalyKind.UNSEEN}


@pytest.mark.parametrize("offset", [None, -1])
def test_what_was_acknowledged_without_an_offset_must_be_there(offset: int | None) -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    for order in ("first", "second", "third"):
        producer.send("orders", order).acknowledged(0, offset)
    consumer.read("orders", 0, 0, "first")
    consumer.read("orders", 0, 1, "third")
    assert [(it.kind, it.place) for it in history.check()] == [(AnomalyKind.UNSEEN, "orders-0, no offset, for second")]
    assert not history.check(read_to_end=False)


def test_the_order_of_sends_is_judged_without_offsets_too() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    for order in ("first", "second"):
        producer.send("orders", order).acknowledged(0, None)
    consumer.read("orders", 0, 0, "second")
    consumer.read("orders", 0, 1, "first")
    assert history.check().kinds == {AnomalyKind.NONMONOTONIC_SEND}


def test_what_nobody_read_yet_is_no_anomaly_while_reading_goes_on() -> None:
    history = History()
    history.client("producer").send("orders", "order").acknowledged(0, 0)
    assert not history.check(read_to_end=False)


def test_reads_of_a_topic_of_which_no_send_is_noted_are_judged_by_themselves() -> None:
    history = History()
    history.client("consumer").read("other", 0, 3, "whatever")
    assert not history.check()


def orders(history: History, *readers: ClientHistory, count: int = 7) -> None:
    """So many acknowledged records, which these clients read from the beginning."""
    producer = history.client("producer")
    for offset in range(count):
        producer.send("orders", f"order-{offset}").acknowledged(0, offset)
        for reader in readers:
            reader.read("orders", 0, offset, f"order-{offset}")


def test_a_record_that_was_not_read_first_of_all_is_skipped() -> None:
    history = History()
    orders(history, history.client("auditor"))
    history.client("consumer").read("orders", 0, 2, "order-2")
    assert [(it.kind, it.place) for it in history.check()] == [
        (AnomalyKind.POLL_SKIP, "orders-0 offset 0"),
        (AnomalyKind.POLL_SKIP, "orders-0 offset 1"),
    ]


def test_a_skipped_record_is_found_if_only_a_client_that_reads_uncommitted_records_read_it() -> None:
    history = History()
    orders(history, history.client("auditor", isolation="read_uncommitted"))
    consumer = history.client("consumer")
    for offset in (0, 2):
        consumer.read("orders", 0, offset, f"order-{offset}")
    assert [(it.kind, it.place) for it in history.check()] == [(AnomalyKind.POLL_SKIP, "orders-0 offset 1")]


def test_an_uncommitted_record_that_others_read_is_not_skipped() -> None:
    history = History()
    transaction = history.client("exact").begin()
    transaction.send("orders", "open").acknowledged(0, 7)
    auditor = history.client("auditor", isolation="read_uncommitted")
    orders(history, auditor, history.client("consumer"))
    auditor.read("orders", 0, 7, "open")
    history.client("other").read("orders", 0, 0, "order-0")
    assert not history.check()


@pytest.mark.parametrize("outcome", ["aborted", "commits", None])
def test_a_value_of_a_transaction_may_be_sent_again_in_another_one(outcome: str | None) -> None:
    history = History()
    auditor = history.client("auditor", isolation="read_uncommitted")
    producer, consumer = history.client("producer"), history.client("consumer")
    first, second = producer.begin(), producer.begin()
    first.send("orders", "order").acknowledged(0, 0)
    if outcome is not None:
        getattr(first, outcome)()
    second.send("orders", "order").acknowledged(0, 2)
    second.commits()
    second.committed()
    for offset in (0, 2):
        auditor.read("orders", 0, offset, "order")
    consumer.read("orders", 0, 2, "order")
    assert str(history.check()) == "no anomalies"


def test_a_value_that_was_read_in_an_aborted_transaction_only_is_lost() -> None:
    history = History()
    auditor = history.client("auditor", isolation="read_uncommitted")
    producer = history.client("producer")
    first, second = producer.begin(), producer.begin()
    first.send("orders", "order").acknowledged(0, 0)
    first.aborted()
    second.send("orders", "order").acknowledged(0, 2)
    producer.send("orders", "last").acknowledged(0, 4)
    second.commits()
    second.committed()
    auditor.read("orders", 0, 0, "order")
    auditor.read("orders", 0, 4, "last")
    assert [(it.kind, it.place) for it in history.check()] == [(AnomalyKind.LOST_WRITE, "orders-0 offset 2")]


def test_a_record_is_read_before_its_commit_also_if_an_earlier_attempt_was_aborted() -> None:
    history = History()
    producer = history.client("producer")
    first, second = producer.begin(), producer.begin()
    first.send("orders", "order")
    first.aborted()
    second.send("orders", "order")
    history.client("consumer").read("orders", 0, 2, "order")
    assert history.check().kinds == {AnomalyKind.PRECOMMITTED_READ}


def test_a_group_that_began_late_may_read_from_the_beginning_after_its_commit() -> None:
    history = History()
    orders(history, history.client("auditor"))
    consumer = history.client("consumer", group="billing")
    for start in (5, 0):
        consumer.reads_from("orders", 0, start)
        for offset in range(start, 7):
            consumer.read("orders", 0, offset, f"order-{offset}")
        consumer.commit("orders", 0, 7)
    assert str(history.check()) == "no anomalies"


@pytest.mark.long
def test_a_million_records_are_checked_in_a_time_that_grows_as_they_do(capsys: pytest.CaptureFixture[str]) -> None:
    for records in (250_000, 500_000, 1_000_000):
        history = History()
        producer, consumer = history.client("producer"), history.client("consumer", group="billing")
        for value in range(records):
            producer.send("orders", value).acknowledged(value % 6, value // 6)
        for value in range(records):
            if value != records // 2:
                consumer.read("orders", value % 6, value // 6, value)
            if value % 500 == 499:
                consumer.commit("orders", value % 6, value // 6 + 1)
        began = time.process_time()
        found = history.check()
        with capsys.disabled():
            print(f"\n{records:,} records: {time.process_time() - began:.1f} s of CPU")
        assert found.kinds == {AnomalyKind.LOST_WRITE}
        assert len(found) == 1
