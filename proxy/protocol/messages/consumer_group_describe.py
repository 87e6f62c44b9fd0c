"""ConsumerGroupDescribe (key 69): consumer groups and their members, as their coordinator knows them (KIP-848).

Members show the address that they connect from: behind a proxy, the proxy's.
"""

from proxy.protocol.api import CONSUMER_GROUP_DESCRIBE
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    ClientHost,
    ClientId,
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    TopicRegex,
    array,
    int8,
    int32,
    string,
)


class ConsumerGroupDescribeRequest(Request, api=CONSUMER_GROUP_DESCRIBE):
    """The groups to describe."""

    group_ids: array[GroupId]
    include_authorized_operations: bool


class TopicPartitions(Struct):
    """A topic and some of its partitions."""

    topic_id: TopicId
    topic_name: TopicName
    partitions: array[PartitionIndex]


class Assignment(Struct):
    """The partitions of one member."""

    topic_partitions: array[TopicPartitions]


class ConsumerGroupDescribeResponse(Response, api=CONSUMER_GROUP_DESCRIBE):
    """The groups."""

    class Group(Struct):
        """One group."""

        class Member(Struct):
            """One member."""

            member_id: MemberId
            instance_id: MemberId | None = field(default=None)  # of a static member (KIP-345)
            rack_id: string | None = field(default=None)
            member_epoch: int32
            client_id: ClientId
            client_host: ClientHost
            subscribed_topic_names: array[TopicName]
            subscribed_topic_regex: TopicRegex | None = field(default=None)
            assignment: Assignment  # what it has
            target_assignment: Assignment  # what it is to have
            member_type: int8 = since(1, default=-1)  # 0: classic, 1: consumer, -1: not known

        error_code: Error
        error_message: ErrorMessage | None = field(default=None)
        group_id: GroupId
        group_state: string  # such as Stable or Reconciling
        group_epoch: int32
        assignment_epoch: int32
        assignor_name: string
        members: array[Member]
        authorized_operations: AuthorizedOperations = field(default=-(2**31))  # the default: not asked for

    throttle_time_ms: ThrottleTime
    groups: array[Group] = field(mirrors="group_ids")
