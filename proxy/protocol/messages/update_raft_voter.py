"""UpdateRaftVoter (key 82): DOC"""

from proxy.protocol.api import UPDATE_RAFT_VOTER
from proxy.protocol.schema import Request, Response, Struct, since, tagged
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
    """DOC"""

    class Listener(Struct):
        """DOC"""

        name: string
        host: Host
        port: Port16

    class KRaftVersionFeature(Struct):
        """DOC"""

        min_supported_version: int16
        max_supported_version: int16

    cluster_id: ClusterId | None
    current_leader_epoch: int32
    voter_id: BrokerId
    voter_directory_id: uuid
    listeners: array[Listener]
    k_raft_version_feature: KRaftVersionFeature


class UpdateRaftVoterResponse(Response, api=UPDATE_RAFT_VOTER):
    """DOC"""

    class CurrentLeader(Struct):
        """DOC"""

        leader_id: BrokerId = since(0, default=-1)
        leader_epoch: int32 = since(0, default=-1)
        host: Host
        port: Port

    throttle_time_ms: ThrottleTime
    error_code: Error
    current_leader: CurrentLeader = tagged(0, 0)
