"""ShareGroupDescribe (key 77): share groups and their members, as their coordinator knows them (KIP-932)."""

from proxy.protocol.api import SHARE_GROUP_DESCRIBE
from proxy.protocol.schema import Request, Response, Struct, field
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
    array,
    int32,
    string,
)


class ShareGroupDescribeRequest(Request, api=SHARE_GROUP_DESCRIBE):
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


class ShareGroupDescribeResponse(Response, api=SHARE_GROUP_DESCRIBE):
    """The groups."""

    class Group(Struct):
        """One group."""

        class Member(Struct):
            """One member."""

            member_id: MemberId
            rack_id: string | None = field(default=None)
            member_epoch: int32
            client_id: ClientId
            client_host: ClientHost
            subscribed_topic_names: array[TopicName]
            assignment: Assignment

        error_code: Error
        error_message: ErrorMessage | None = field(default=None)
        group_id: GroupId
        group_state: string  # such as Stable or Empty
        group_epoch: int32
        assignment_epoch: int32
        assignor_name: string
        members: array[Member]
        authorized_operations: AuthorizedOperations = field(default=-(2**31))  # the default: not asked for

    throttle_time_ms: ThrottleTime
    groups: array[Group] = field(mirrors="group_ids")
