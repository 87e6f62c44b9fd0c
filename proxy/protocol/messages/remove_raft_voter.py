"""RemoveRaftVoter (key 81): take a controller out of the voters of the metadata quorum (KIP-853)."""

from proxy.protocol.api import REMOVE_RAFT_VOTER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, ClusterId, Error, ErrorMessage, ThrottleTime, uuid


class RemoveRaftVoterRequest(Request, api=REMOVE_RAFT_VOTER):
    """The voter to remove."""

    cluster_id: ClusterId | None
    voter_id: BrokerId
    voter_directory_id: uuid


class RemoveRaftVoterResponse(Response, api=REMOVE_RAFT_VOTER):
    """Whether it is removed."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
