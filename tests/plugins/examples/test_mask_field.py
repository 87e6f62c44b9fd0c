"""The example that masks a field of JSON values."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.examples.mask_field import MaskField
from proxy.plugin import (
    FETCH,
    METADATA,
    ApiVersionsRequest,
    ApiVersionsResponse,
    CompressionType,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from proxy.testing import FakeWorker, MessageExchange, build
from tests.plugins.examples.talk import OLD_MESSAGE, batch, records

PAYMENTS, ORDERS = bytes(15) + b"\1", bytes(15) + b"\2"
CARD = b'{"who":"a","card":{"number":"4111"}}'
MASKED = b'{"who":"a","card":{"number":"***"}}'


def masking(worker: FakeWorker | None = None) -> MessageExchange:
    """Somebody who reads."""
    asking = MessageExchange(build(MaskField, worker, topics=["payments"], field="card.number"))
    asking.connection.broker_versions = {METADATA.key: (0, 13)}
    return asking


def fetched(asking: MessageExchange, data: bytes | None, topic: str = "payments", version: int = 12) -> Any:
    """The partition as it arrives."""
    asking.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[]), version)
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=9, records=data)
    topics = [FetchResponse.Topic(topic=topic, partitions=[partition])]
    return asking.answer(FetchResponse(responses=topics), version).responses[0].partitions[0]


def values(partition: Any) -> list[bytes | None]:
    return [record.value and bytes(record.value) for record in records(partition.records)]


@pytest.mark.parametrize("codec", CompressionType)
def test_a_field_is_masked_in_every_batch(codec: CompressionType) -> None:
    worker = FakeWorker()
    data = batch(CARD, b'{"who":"b"}', compression=codec) + batch(CARD, base_offset=2, compression=codec)
    partition = fetched(masking(worker), data)
    assert values(partition) == [MASKED, b'{"who":"b"}', MASKED]
    assert [record.offset for record in records(partition.records)] == [0, 1, 2]
    assert worker.counts == {"values": 2}


def test_transactions_and_their_markers_stay_what_they_are() -> None:
    marker = batch(b"commit", control=True, transactional=True, producer_id=7, base_offset=1)
    data = batch(CARD, transactional=True, producer_id=7, producer_epoch=0, base_sequence=3) + marker
    partition = fetched(masking(), data)
    assert bytes(partition.records).endswith(marker)
    assert values(partition) == [MASKED, b"commit"]


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (b'{"card":{"number":4111,"name":"A"}}', b'{"card":{"number":"***","name":"A"}}'),
        (b'{"card":[{"number":1},{"number":2}]}', b'{"card":[{"number":"***"},{"number":"***"}]}'),
        (b'[{"card":{"number":1}}, {"card":{"number":2}}]', b'[{"card":{"number":"***"}},{"card":{"number":"***"}}]'),
        (b'{"card": "lost", "at": 1.10}', b'{"card": "lost", "at": 1.10}'),
        (b'{"at": 1.10, "card": {"number": {"a": 1}}}', b'{"at":1.1,"card":{"number":"***"}}'),
        ('{"card":{"number":1},"who":"\\ud800é"}'.encode(), b'{"card":{"number":"***"},"who":"\\ud800\\u00e9"}'),
        (b"4111", b"4111"),
        (None, None),
    ],
)
def test_what_the_field_leads_to_is_masked_and_nothing_else(value: bytes | None, seen: bytes | None) -> None:
    assert values(fetched(masking(), batch(value))) == [seen]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b'{"card": {"number": 4111}',
        b"\xff\xfe\xfd",
        b'{"card": {"number": 4111}, "card": 1}',
        b'{"card": {"number": 1}, "amount": 0.12345678901234567890}',
        b'{"card": {"number": 1}, "amount": 1e999}',
        b'{"card": {"number": 1}, "amount": 1e99999999999999999999}',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_what_cannot_be_looked_into_is_masked_whole(value: bytes) -> None:
    assert values(fetched(masking(), batch(value))) == [b'"***"']


def test_other_topics_pass_byte_for_byte() -> None:
    assert bytes(fetched(masking(), batch(CARD), "orders").records) == batch(CARD)


def test_a_batch_that_breaks_off_does_not_tell_what_it_holds() -> None:
    partition = fetched(masking(), batch(CARD) + batch(CARD, base_offset=1)[:-1])
    assert values(partition) == [MASKED]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (OLD_MESSAGE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (batch(CARD) + OLD_MESSAGE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (batch(CARD)[:-1] + b"x", ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_what_cannot_be_masked_is_withheld(data: bytes, error: ErrorCode) -> None:
    worker = FakeWorker()
    partition = fetched(masking(worker), data)
    assert (partition.error_code, partition.records) == (error, b"")
    assert [event for event, _ in worker.lines] == ["records withheld"]


def by_id(asking: MessageExchange, version: int = 13) -> dict[bytes, bytes]:
    """What arrives of two topics that are told by their ids, once the broker said what they are called."""
    wanted = [FetchRequest.Topic(topic_id=topic_id, partitions=[]) for topic_id in (PAYMENTS, ORDERS)]
    asked = asking.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=wanted), version)
    if isinstance(asked, MetadataRequest):
        topics = [
            MetadataResponse.Topic(error_code=0, name=name, topic_id=topic_id, partitions=[])
            for name, topic_id in (("payments", PAYMENTS), ("orders", ORDERS))
        ]
        asking.answer(MetadataResponse(brokers=[], topics=topics), 12, number=0)
    responses = [
        FetchResponse.Topic(
            topic_id=topic_id,
            partitions=[
                FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=9, records=batch(CARD))
            ],
        )
        for topic_id in (PAYMENTS, ORDERS)
    ]
    answer = asking.answer(FetchResponse(responses=responses), version)
    return {topic.topic_id: values(topic.partitions[0])[0] for topic in answer.responses}


def test_topics_are_known_by_their_ids_too() -> None:
    assert by_id(masking()) == {PAYMENTS: MASKED, ORDERS: CARD}


def test_a_topic_whose_name_nobody_knows_is_masked() -> None:
    asking = masking()
    asking.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[]), 13)
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=9, records=batch(CARD))
    answer = asking.answer(FetchResponse(responses=[FetchResponse.Topic(topic_id=ORDERS, partitions=[partition])]), 13)
    assert values(answer.responses[0].partitions[0]) == [MASKED]


def test_share_groups_read_masked_values_too() -> None:
    asking = masking()
    asked: dict[str, Any] = {"topics": [], "forgotten_topics_data": []}
    request = ShareFetchRequest(member_id="m", share_session_epoch=0, max_wait_ms=1, min_bytes=1, **asked)
    asking.ask(request, 1)
    partition = ShareFetchResponse.Topic.Partition(
        partition_index=0,
        error_code=0,
        acknowledge_error_code=0,
        current_leader=ShareFetchResponse.Topic.Partition.Leader(leader_id=1, leader_epoch=1),
        records=batch(CARD),
        acquired_records=[],
    )
    topics = [ShareFetchResponse.Topic(topic_id=PAYMENTS, partitions=[partition])]
    answer = asking.answer(ShareFetchResponse(throttle_time_ms=0, error_code=0, responses=topics, node_endpoints=[]), 1)
    assert values(answer.responses[0].partitions[0]) == [MASKED]


@pytest.mark.parametrize(("theirs", "ours"), [((0, 11), (4, 11)), ((4, 18), (4, 18)), ((0, 3), None)])
def test_fetch_is_offered_where_records_can_be_read(theirs: tuple[int, int], ours: tuple[int, int] | None) -> None:
    asking = masking()
    asking.ask(ApiVersionsRequest(), 2)
    entry = ApiVersionsResponse.ApiVersion(api_key=FETCH.key, min_version=theirs[0], max_version=theirs[1])
    answer = asking.answer(ApiVersionsResponse(error_code=0, api_keys=[entry]), 2)
    assert [(each.min_version, each.max_version) for each in answer.api_keys] == ([ours] if ours else [])
