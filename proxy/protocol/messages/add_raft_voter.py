"""AddRaftVoter (key 80): add a controller to the voters of the metadata quorum (KIP-853).

It names the new voter's own addresses: the only client API that carries endpoints towards the cluster.
"""

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
    """The new voter, and where it listens."""

    class Listener(Struct):
        """Where the voter listens."""

        name: string  # of the listener
        host: Host
        port: Port16

    cluster_id: ClusterId | None
    timeout_ms: int32
    voter_id: BrokerId
    voter_directory_id: uuid
    listeners: array[Listener]
    # Answer when the change is committed, not when it is in the leader's log.
    ack_when_committed: bool = since(1, default=True)


class AddRaftVoterResponse(Response, api=ADD_RAFT_VOTER):
    """Whether it votes now."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
