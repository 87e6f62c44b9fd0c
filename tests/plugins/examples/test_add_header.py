"""The example that adds a header to every record."""

from __future__ import annotations

import pytest

from plugins.examples.add_header import AddHeader
from proxy.plugin import CompressionType, ErrorCode, Header, ProduceRequest, ProduceResponse
from proxy.testing import FakeWorker, FromClient, MessageExchange, Playbook, ToBroker, build, request_frame
from tests.plugins.examples.talk import OLD_MESSAGE, batch, produce, records

ORIGIN = Header("origin", b"berlin")


def adding(worker: FakeWorker | None = None) -> AddHeader:
    return build(AddHeader, worker, name="origin", value="berlin")


def headers(request: ProduceRequest) -> list[list[tuple[Header, ...]]]:
    """Those of each record, by partitions."""
    partitions = request.topic_data[0].partition_data
    return [[record.headers for record in records(partition.records)] for partition in partitions]


@pytest.mark.parametrize("codec", CompressionType)
def test_every_record_of_every_partition_gets_it(codec: CompressionType) -> None:
    worker = FakeWorker()
    sent = produce(batch(b"a", b"b", compression=codec), None, batch(b"c", compression=codec))
    seen = MessageExchange(adding(worker)).ask(sent, 9)
    assert headers(seen) == [[(ORIGIN,), (ORIGIN,)], [], [(ORIGIN,)]]
    assert worker.counts == {"headers": 3}


def test_other_connections_have_their_turn_while_many_records_get_it() -> None:
    sent = produce(batch(*[b"a"] * 1_000, compression=CompressionType.ZSTD))
    assert len(request_frame(sent, 9, 1, "app")) < 64 << 10  # it is no large message
    exchange = MessageExchange(adding())
    exchange.ask(sent, 9)
    assert exchange.turns > 10


def test_a_transaction_is_sent_on_as_one() -> None:
    transactional = batch(b"a", producer_id=7, producer_epoch=1, base_sequence=0, transactional=True)
    seen = MessageExchange(adding()).ask(produce(transactional), 12)
    changed = bytes(seen.topic_data[0].partition_data[0].records)
    assert changed[43:57] == transactional[43:57]  # producer id, epoch and base sequence


@pytest.mark.parametrize(("version", "acks"), [(0, 1), (2, -1)])
def test_records_that_have_no_headers_are_refused(version: int, acks: int) -> None:
    worker = FakeWorker()
    answer: ProduceResponse = MessageExchange(adding(worker)).ask(produce(OLD_MESSAGE, acks=acks), version)
    (partition,) = answer.responses[0].partition_responses
    assert partition.error_code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert worker.lines == [("records not taken", {"why": "UNSUPPORTED_FOR_MESSAGE_FORMAT"})]


def test_records_that_are_broken_are_refused() -> None:
    broken = batch(b"a")[:-1] + b"x"
    answer: ProduceResponse = MessageExchange(adding()).ask(produce(batch(b"a"), broken), 9)
    errors = [partition.error_code for partition in answer.responses[0].partition_responses]
    assert errors == [ErrorCode.CORRUPT_MESSAGE] * 2


def test_a_refusal_without_an_answer_ends_the_connection() -> None:
    assert MessageExchange(adding()).ask(produce(OLD_MESSAGE, acks=0), 2) == "records could not be changed"


def test_a_conversation_of_a_client_with_its_broker() -> None:
    with_header = MessageExchange(adding()).ask(produce(batch(b"a")), 9)
    sent, changed = (request_frame(each, 9, 1, "app") for each in (produce(batch(b"a")), with_header))
    assert Playbook(adding()) >> FromClient(sent) << ToBroker(changed)
