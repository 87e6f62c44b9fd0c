"""JoinGroup (key 11): become a member of a group, and learn who leads it.

All members wait here until the group is complete; then the leader gets everybody's metadata and decides who does what
(SyncGroup). v4 makes a new member ask twice, the second time with the id it was given (KIP-394); v5 brought static
members, known by their instance id (KIP-345); v9 lets the broker spare the leader the decision (KIP-814).
"""

from proxy.protocol.api import JOIN_GROUP
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, int32, string


class JoinGroupRequest(Request, api=JOIN_GROUP):
    """Let me in; this is what I can do."""

    class Protocol(Struct):
        """A way to share the work that the member knows, for consumers an assignor."""

        name: string
        metadata: bytes  # of consumers a subscription, which names topics

    group_id: GroupId
    session_timeout_ms: int32
    rebalance_timeout_ms: int32 = since(1, default=-1)  # in v0 the session timeout stands for both
    member_id: MemberId  # empty: not known yet
    group_instance_id: MemberId | None = since(5, default=None)
    protocol_type: string  # "consumer", "connect", ...
    protocols: array[Protocol]  # the best first
    reason: string | None = since(8, default=None)


class JoinGroupResponse(Response, api=JOIN_GROUP):
    """You are in; this is your generation and your leader."""

    class Member(Struct):
        """A member, as only the leader sees it."""

        member_id: MemberId
        group_instance_id: MemberId | None = since(5, default=None)
        metadata: bytes

    throttle_time_ms: ThrottleTime = since(2)
    error_code: Error
    generation_id: int32 = field(default=-1)
    protocol_type: string | None = since(7, default=None)
    protocol_name: string | None = field(nullable=7)
    leader: MemberId
    skip_assignment: bool = since(9)
    member_id: MemberId
    members: array[Member]  # empty but for the leader
