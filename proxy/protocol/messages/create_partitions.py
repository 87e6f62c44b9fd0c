"""CreatePartitions (key 37): more partitions for existing topics (KIP-195).

v3 may be throttled topic by topic (KIP-599).
"""

from proxy.protocol.api import CREATE_PARTITIONS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime, TopicName, array, int32


class CreatePartitionsRequest(Request, api=CREATE_PARTITIONS):
    """Grow these topics."""

    class Topic(Struct):
        """A topic to grow."""

        class Assignment(Struct):
            """The brokers that shall replicate one new partition."""

            broker_ids: array[BrokerId]

        name: TopicName
        count: int32  # of all partitions, the old ones included
        assignments: array[Assignment] | None  # of the new ones, in order; null: the broker decides

    topics: array[Topic]
    timeout_ms: int32
    validate_only: bool


class CreatePartitionsResponse(Response, api=CREATE_PARTITIONS):
    """Which topics grew."""

    class Topic(Struct):
        """Whether one topic grew."""

        name: TopicName
        error_code: Error
        error_message: ErrorMessage | None = field(default=None)

    throttle_time_ms: ThrottleTime
    results: array[Topic] = field(mirrors="topics")
