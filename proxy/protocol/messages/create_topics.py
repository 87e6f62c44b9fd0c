"""CreateTopics (key 19): new topics.

v1 can check without creating, v4 takes -1 for the broker's own defaults (KIP-464), v5 answers with the configuration
that the topic got (KIP-525), v6 may be throttled topic by topic (KIP-599), v7 answers with the topic's id.
"""

from proxy.protocol.api import CREATE_TOPICS
from proxy.protocol.schema import Request, Response, Struct, field, since, tagged
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int8,
    int16,
    int32,
    string,
)


class CreateTopicsRequest(Request, api=CREATE_TOPICS):
    """Create these topics."""

    class Topic(Struct):
        """A topic to create."""

        class Assignment(Struct):
            """The brokers that shall replicate one partition."""

            partition_index: PartitionIndex
            broker_ids: array[BrokerId]  # the first is the preferred leader

        class Config(Struct):
            """A setting that differs from the broker's."""

            name: string
            value: string | None

        name: TopicName
        num_partitions: int32  # -1: as the broker is configured, or as the assignments say
        replication_factor: int16  # likewise
        assignments: array[Assignment]  # empty: the broker decides
        configs: array[Config]

    topics: array[Topic]
    timeout_ms: int32 = field(default=60000)
    validate_only: bool = since(1)


class CreateTopicsResponse(Response, api=CREATE_TOPICS):
    """Which topics were created, and what they are like."""

    class Topic(Struct):
        """The result for one topic."""

        class Config(Struct):
            """A setting in force for the topic."""

            name: string
            value: string | None  # null: sensitive
            read_only: bool
            config_source: int8 = field(default=-1)
            is_sensitive: bool

        name: TopicName
        topic_id: TopicId = since(7)
        error_code: Error
        error_message: ErrorMessage | None = since(1)
        # A client that may create a topic may still not see its configuration: then this says so, and the three below
        # are -1, -1 and empty.
        topic_config_error_code: Error = tagged(0, 5)
        num_partitions: int32 = since(5, default=-1)
        replication_factor: int16 = since(5, default=-1)
        configs: array[Config] | None = since(5)

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[Topic] = field(mirrors="topics")
