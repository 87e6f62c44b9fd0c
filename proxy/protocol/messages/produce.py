"""Produce (key 0): records to append to partitions.

With acks 0 there is no response at all: a broker that cannot append closes the connection.
v3 brought transactions and record batches v2 (KIP-98), v8 the records at fault (KIP-467), v10 the leader that the
client should have asked (KIP-951), v13 topic ids instead of names (KIP-516). From v12 on a transactional batch adds
its partition to the transaction by itself, without AddPartitionsToTxn (KIP-890).
Brokers of 4.x advertise v0 to v2 for the sake of librdkafka, but close the connection on them (KAFKA-18659).
"""

from proxy.protocol.api import PRODUCE
from proxy.protocol.schema import Request, Response, Struct, field, since, tagged, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    Host,
    PartitionIndex,
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
    """Append these records."""

    class Topic(Struct):
        """A topic to append to."""

        class Partition(Struct):
            """A partition, and the records for it."""

            index: PartitionIndex
            records: Records | None  # up to v2 a message set of any length, from v3 on one record batch

        name: TopicName = until(12)
        topic_id: TopicId = since(13)
        partition_data: array[Partition]

    transactional_id: TransactionalId | None = since(3, default=None)  # null: no transaction
    acks: int16  # -1: all in-sync replicas; 0: none, and no response; 1: the leader
    timeout_ms: int32  # how long the leader waits for its followers
    topic_data: array[Topic]


class ProduceResponse(Response, api=PRODUCE):
    """Where the records are in the log, or why they are not."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """What became of the records for one partition."""

            class RecordError(Struct):
                """A record that caused its batch to be dropped."""

                batch_index: int32  # counts the records of the request's batch, from 0
                batch_index_error_message: ErrorMessage | None = field(default=None)

            class Leader(Struct):
                """The partition's leader, as far as this broker knows."""

                leader_id: BrokerId = field(default=-1)
                leader_epoch: int32 = field(default=-1)

            index: PartitionIndex
            error_code: Error
            base_offset: int64  # of the first record
            log_append_time_ms: int64 = since(2, default=-1)  # -1: the topic keeps the producer's timestamps
            log_start_offset: int64 = since(5, default=-1)
            record_errors: array[RecordError] = since(8)
            error_message: ErrorMessage | None = since(8, default=None)
            current_leader: Leader = tagged(0, 10)  # only with NOT_LEADER_OR_FOLLOWER

        name: TopicName = until(12)
        topic_id: TopicId = since(13)
        partition_responses: array[Partition] = field(mirrors="partition_data")

    class NodeEndpoint(Struct):
        """Where a broker named in `current_leader` listens."""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = field(default=None)

    responses: array[Topic] = field(mirrors="topic_data")
    throttle_time_ms: ThrottleTime = since(1)
    node_endpoints: array[NodeEndpoint] = tagged(0, 10)
