"""Clients of any kind note their operations, and a test checks them all at once."""

import asyncio
import threading

import pytest
import trio

from chaos.anomalies import AnomalyKind
from chaos.history import History
from chaos.notes import ClientHistory


def sends_and_reads(producer: ClientHistory, consumer: ClientHistory, partition: int) -> None:
    for offset in range(200):
        producer.send("orders", (partition, offset)).acknowledged(partition, offset)
        consumer.read("orders", partition, offset, (partition, offset))


def test_many_threads_note_at_once() -> None:
    history = History()

    def work(number: int) -> None:
        sends_and_reads(history.client(f"producer-{number}"), history.client(f"consumer-{number}"), number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history.assert_clean()
    moments = [note.moment for client in history.clients for note in (*client.sends, *client.reads)]
    assert len(moments) == len(set(moments)) == 8 * 400


async def test_tasks_of_trio_and_asyncio_note_alike() -> None:
    history = History()

    async def in_asyncio() -> None:
        sends_and_reads(history.client("producer"), history.client("consumer"), 0)

    await trio.to_thread.run_sync(asyncio.run, in_asyncio())
    sends_and_reads(history.client("producer"), history.client("consumer"), 1)
    history.assert_clean()


def test_a_test_fails_with_all_that_went_wrong() -> None:
    history = History()
    history.client("producer").send("orders", "order").acknowledged(0, 0)
    with pytest.raises(AssertionError, match="unseen: orders-0 offset 0"):
        history.assert_clean()
    history.assert_clean(read_to_end=False)
    history.assert_clean(but=(AnomalyKind.UNSEEN,))


def test_a_client_without_a_group_commits_nothing() -> None:
    with pytest.raises(ValueError, match="has no group"):
        History().client("reader").commit("orders", 0, 1)


def test_a_transaction_is_not_committed_before_it_began_to_be() -> None:
    transaction = History().client("producer").begin()
    with pytest.raises(ValueError, match=r"note commits\(\)"):
        transaction.committed()
