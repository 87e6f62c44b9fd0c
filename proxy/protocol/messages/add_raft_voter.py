"""AddRaftVoter (key 80): DOC"""

from proxy.protocol.api import ADD_RAFT_VOTER
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    ErrorMessage,
    Host,
    Port16,
    ThrottleTime,
    array,
    int32,
    string,
    uuid,
)


class AddRaftVoterRequest(Request, api=ADD_RAFT_VOTER):
    """DOC"""

    class Listener(Struct):
        """DOC"""

        name: string
        host: Host
        port: Port16

    cluster_id: ClusterId | None
    timeout_ms: int32
    voter_id: BrokerId
    voter_directory_id: uuid
    listeners: array[Listener]
    ack_when_committed: bool = since(1, default=True)


class AddRaftVoterResponse(Response, api=ADD_RAFT_VOTER):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
