"""Facts about the log from notes: who wrote each record, and who read past each offset."""

from chaos.history import History
from chaos.log import ObservedLog
from chaos.notes import Where


def test_a_place_is_past_once_a_client_went_from_before_it_to_beyond() -> None:
    history = History()
    consumer = history.client("consumer")
    consumer.reads_from("orders", 0, 5)
    for offset in (5, 9):
        consumer.read("orders", 0, offset, offset)
    reach = ObservedLog(history.clients).reach
    assert [reach.beyond(Where("orders", 0, offset)) is not None for offset in (4, 5, 7, 9)] == [
        False,  # before it began
        True,
        True,
        False,  # nothing beyond was read
    ]


def test_a_transaction_of_which_something_was_read_is_committed() -> None:
    history = History()
    transaction = history.client("producer").begin()
    sends = [transaction.send("orders", value) for value in ("read", "not read")]
    for offset, send in enumerate(sends):
        send.acknowledged(0, offset)
    transaction.commits()
    assert not any(map(ObservedLog(history.clients).is_kept, sends))
    history.client("consumer").read("orders", 0, 0, "read")
    assert all(map(ObservedLog(history.clients).is_kept, sends))


def test_of_two_attempts_the_place_says_which_one_was_read() -> None:
    history = History()
    producer, consumer = history.client("producer"), history.client("consumer")
    first, second = producer.send("orders", "order"), producer.send("orders", "order")
    second.acknowledged(0, 7)
    consumer.read("orders", 0, 7, "order")
    consumer.read("orders", 0, 3, "order")
    log = ObservedLog(history.clients)
    at_7, at_3 = log.all_reads()
    assert log.sender(at_7) is second
    assert log.sender(at_3) is None  # it may be either
    assert not log.is_kept(first)
