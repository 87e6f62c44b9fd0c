"""ShareGroupDescribe (key 77): DOC"""

from proxy.protocol.api import SHARE_GROUP_DESCRIBE
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    ClientHost,
    ClientId,
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    string,
)


class ShareGroupDescribeRequest(Request, api=SHARE_GROUP_DESCRIBE):
    """DOC"""

    group_ids: array[GroupId]
    include_authorized_operations: bool


class TopicPartitions(Struct):
    """DOC"""

    topic_id: TopicId
    topic_name: TopicName
    partitions: array[int32]


class Assignment(Struct):
    """DOC"""

    topic_partitions: array[TopicPartitions]


class ShareGroupDescribeResponse(Response, api=SHARE_GROUP_DESCRIBE):
    """DOC"""

    class DescribedGroup(Struct):
        """DOC"""

        class Member(Struct):
            """DOC"""

            member_id: MemberId
            rack_id: string | None = since(0, default=None)
            member_epoch: int32
            client_id: ClientId
            client_host: ClientHost
            subscribed_topic_names: array[TopicName]
            assignment: Assignment

        error_code: Error
        error_message: ErrorMessage | None = since(0, default=None)
        group_id: GroupId
        group_state: string
        group_epoch: int32
        assignment_epoch: int32
        assignor_name: string
        members: array[Member]
        authorized_operations: AuthorizedOperations = since(0, default=-2147483648)

    throttle_time_ms: ThrottleTime
    groups: array[DescribedGroup]
