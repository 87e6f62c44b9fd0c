"""Produce (key 0): DOC"""

from proxy.protocol.api import PRODUCE
from proxy.protocol.schema import Request, Response, Struct, since, tagged, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    Host,
    Port,
    Records,
    ThrottleTime,
    TopicId,
    TopicName,
    TransactionalId,
    array,
    int16,
    int32,
    int64,
    string,
)


class ProduceRequest(Request, api=PRODUCE):
    """DOC"""

    class TopicProduceData(Struct):
        """DOC"""

        class PartitionProduceData(Struct):
            """DOC"""

            index: int32
            records: Records | None

        name: TopicName = until(12)
        topic_id: TopicId = since(13)
        partition_data: array[PartitionProduceData]

    transactional_id: TransactionalId | None = since(3, default=None)
    acks: int16
    timeout_ms: int32
    topic_data: array[TopicProduceData]


class ProduceResponse(Response, api=PRODUCE):
    """DOC"""

    class TopicProduceResponse(Struct):
        """DOC"""

        class PartitionProduceResponse(Struct):
            """DOC"""

            class BatchIndexAndErrorMessage(Struct):
                """DOC"""

                batch_index: int32
                batch_index_error_message: ErrorMessage | None = since(0, default=None)

            class LeaderIdAndEpoch(Struct):
                """DOC"""

                leader_id: BrokerId = since(0, default=-1)
                leader_epoch: int32 = since(0, default=-1)

            index: int32
            error_code: Error
            base_offset: int64
            log_append_time_ms: int64 = since(2, default=-1)
            log_start_offset: int64 = since(5, default=-1)
            record_errors: array[BatchIndexAndErrorMessage] = since(8)
            error_message: ErrorMessage | None = since(8, default=None)
            current_leader: LeaderIdAndEpoch = tagged(0, 10)

        name: TopicName = until(12)
        topic_id: TopicId = since(13)
        partition_responses: array[PartitionProduceResponse]

    class NodeEndpoint(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(0, default=None)

    responses: array[TopicProduceResponse]
    throttle_time_ms: ThrottleTime = since(1)
    node_endpoints: array[NodeEndpoint] = tagged(0, 10)
