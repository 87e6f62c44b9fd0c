"""UpdateRaftVoter (key 82): a voter of the metadata quorum tells its leader what has changed (KIP-853).

That is where it listens, or which levels of kraft.version it supports.
"""

from proxy.protocol.api import UPDATE_RAFT_VOTER
from proxy.protocol.schema import Request, Response, Struct, field, tagged
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    Port,
    Port16,
    ThrottleTime,
    array,
    int16,
    int32,
    string,
    uuid,
)


class UpdateRaftVoterRequest(Request, api=UPDATE_RAFT_VOTER):
    """The voter as it is now."""

    class Listener(Struct):
        """Where the voter listens."""

        name: string  # of the listener
        host: Host
        port: Port16

    class KRaftVersionFeature(Struct):
        """The levels of kraft.version that the voter supports."""

        min_supported_version: int16
        max_supported_version: int16

    cluster_id: ClusterId | None
    current_leader_epoch: int32
    voter_id: BrokerId
    voter_directory_id: uuid
    listeners: array[Listener]
    k_raft_version_feature: KRaftVersionFeature


class UpdateRaftVoterResponse(Response, api=UPDATE_RAFT_VOTER):
    """Whether it is known now, and who leads."""

    class CurrentLeader(Struct):
        """The leader that the asked voter knows, and where it listens."""

        leader_id: BrokerId = field(default=-1)
        leader_epoch: int32 = field(default=-1)
        host: Host
        port: Port  # 32 bits wide, unlike the listeners' above

    throttle_time_ms: ThrottleTime
    error_code: Error
    current_leader: CurrentLeader = tagged(0, 0)
