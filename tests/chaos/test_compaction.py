"""Records that compaction took away are not lost."""

import pytest

from chaos.anomalies import AnomalyKind
from chaos.history import History


def compacted(*noted: tuple[str, str, int | None]) -> History:
    """A compacted topic to which these values were sent: value, key, and the offset if it was acknowledged.

    The consumer read the last value of each key, and goes on behind all of them.
    """
    history = History()
    history.compacts("prices")
    producer, consumer = history.client("producer"), history.client("consumer", group="shop")
    for value, key, offset in noted:
        send = producer.send("prices", value, key=key)
        if offset is not None:
            send.acknowledged(0, offset)
    last = {key: (value, offset) for value, key, offset in noted if offset is not None}
    consumer.reads_from("prices", 0, 0)
    for value, offset in sorted(last.values(), key=lambda it: it[1]):
        consumer.read("prices", 0, offset, value)
    consumer.commit("prices", 0, max(offset for _, offset in last.values()) + 1)
    return history


def test_a_record_with_a_later_one_of_its_key_is_not_lost() -> None:
    history = compacted(("1", "apple", 0), ("2", "pear", 1), ("3", "apple", 2), ("4", "apple", 3))
    assert str(history.check()) == "no anomalies"


def test_the_last_record_of_a_key_is_lost_all_the_same() -> None:
    history = compacted(("1", "apple", 0), ("2", "pear", 1), ("3", "apple", 3))
    send = history.client("other").send("prices", "4", key="plum")
    send.acknowledged(0, 2)
    assert history.check().kinds == {AnomalyKind.LOST_WRITE}


def test_a_send_without_an_answer_may_have_taken_the_record_of_its_key_away() -> None:
    history = compacted(("1", "pear", 1), ("2", "apple", None))
    history.client("other").send("prices", "3", key="apple").acknowledged(0, 0)
    assert not history.check()


@pytest.mark.parametrize("how", ["failed", "aborted", "again"])
def test_a_send_that_wrote_nothing_else_takes_nothing_away(how: str) -> None:
    history = compacted(("1", "pear", 1))
    producer = history.client("other")
    producer.send("prices", "2", key="apple").acknowledged(0, 0)
    transaction = producer.begin()
    if how == "aborted":
        transaction.send("prices", "3", key="apple").acknowledged(0, 2)
        transaction.aborted()
    elif how == "failed":
        producer.send("prices", "3", key="apple").failed()
    else:
        producer.send("prices", "2", key="apple")
    assert history.check().kinds == {AnomalyKind.LOST_WRITE}


def test_a_client_that_reads_after_the_compaction_skips_nothing_that_others_read_before() -> None:
    history = compacted(("0", "pear", 0), ("1", "apple", 1), ("2", "apple", 2))
    early = history.client("early")
    for offset in range(3):
        early.read("prices", 0, offset, str(offset))
    assert not history.check()


def test_a_record_without_a_key_has_no_place_in_a_compacted_topic() -> None:
    history = History()
    history.compacts("prices")
    history.client("producer").send("prices", "1")
    with pytest.raises(ValueError, match=r"#1 producer sent 1 to prices, a compacted topic, without a key; say send\("):
        history.check()
