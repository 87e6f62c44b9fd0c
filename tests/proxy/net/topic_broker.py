"""A scripted broker with a topic of one partition: it keeps produced records, unless a test makes it refuse them."""

from __future__ import annotations

from proxy.protocol.api import PRODUCE
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import read_request_header
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.records import Record, RecordBatch, batches
from proxy.protocol.schema import Response
from tests.proxy.net.scripted import Broker

VERSION = 9  # the version of Produce


class TopicBroker(Broker):
    """`records` has the topic's records, in order. A record whose value contains a key of `invalid` is refused."""

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.topic = topic
        self.records: list[Record] = []
        self.invalid: dict[bytes, ErrorCode] = {}

    def _answer(self, key: int, frame: bytes) -> Response:
        answer = super()._answer(key, frame)
        if isinstance(answer, ApiVersionsResponse):
            answer.api_keys.append(
                ApiVersionsResponse.ApiVersion(api_key=PRODUCE.key, min_version=3, max_version=VERSION)
            )
        if isinstance(answer, MetadataResponse):
            partition = MetadataResponse.Topic.Partition(
                error_code=0, partition_index=0, leader_id=self.node_id, replica_nodes=[self.node_id], isr_nodes=[]
            )
            answer.topics.append(MetadataResponse.Topic(error_code=0, name=self.topic, partitions=[partition]))
        return self._produced(frame) if key == PRODUCE.key else answer

    def _produced(self, frame: bytes) -> ProduceResponse:
        """Keep every record of a request; a record that is sent twice is kept twice."""
        _, body = read_request_header(frame)
        request = decode(ProduceRequest, VERSION, frame[body:])
        data = request.topic_data[0].partition_data[0].records
        assert data is not None
        new = [record for batch in batches(data) if isinstance(batch, RecordBatch) for record in batch.records()]
        found = [error for value, error in self.invalid.items() if any(value in bytes(one.value or b"") for one in new)]
        if not found:
            self.records += new
        error = found[0] if found else 0
        partition = ProduceResponse.Topic.Partition(index=0, error_code=error, base_offset=0)
        return ProduceResponse(responses=[ProduceResponse.Topic(name=self.topic, partition_responses=[partition])])
