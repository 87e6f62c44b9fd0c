"""Records whose checksums do not fit."""

from pathlib import Path
from typing import Any

from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.records import RecordBatch, batches, write_batch
from proxy.protocol.records.record import Record
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving

RECORDS = bytes(write_batch([Record(b"key", b"value")])) * 2


def intact(records: Any) -> list[bool]:
    return [batch.is_intact for batch in batches(bytes(records)) if isinstance(batch, RecordBatch)]


def test_what_is_produced_is_corrupt_where_it_is_meant(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce, topic: orders}, do: {corrupt: before_broker}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    request = produce("orders", "payments")
    for topic in request.topic_data:
        topic.partition_data[0].records = RECORDS
    talk.ask(request, 9)
    (reached,) = talk.to_broker
    assert [intact(topic.partition_data[0].records) for topic in reached.topic_data] == [[False, False], [True, True]]


def test_what_is_produced_without_an_answer_is_corrupt_too(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {corrupt: before_broker}}]")
    talk = FaultTalk(faults, serving)
    request = produce("orders", acks=0)
    request.topic_data[0].partition_data[0].records = RECORDS
    talk.ask(request, 9)
    (reached,) = talk.to_broker
    assert intact(reached.topic_data[0].partition_data[0].records) == [False, False]


def fetched(records: bytes) -> Any:
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=1, records=records)

    def answer(request: Any, version: int) -> Any:
        return FetchResponse(responses=[FetchResponse.Topic(topic="orders", partitions=[partition])])

    return answer


def fetch() -> FetchRequest:
    partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    topics = [FetchRequest.Topic(topic="orders", partitions=[partition])]
    return FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, forgotten_topics_data=[], rack_id="")


def test_what_is_fetched_is_corrupt(tmp_path: Path) -> None:
    talk = FaultTalk(
        FaultFile(tmp_path, "faults: [{match: {api: Fetch}, do: {corrupt: after_broker}}]"), fetched(RECORDS)
    )
    assert intact(talk.ask(fetch(), 12).responses[0].partitions[0].records) == [False, False]


def test_where_there_are_no_records_nothing_fires(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Fetch}, do: corrupt}]")
    FaultTalk(faults, fetched(b"")).ask(fetch(), 12)
    assert faults.told[0].endswith("it has no records")
