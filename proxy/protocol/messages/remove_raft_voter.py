"""RemoveRaftVoter (key 81): DOC"""

from proxy.protocol.api import REMOVE_RAFT_VOTER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, ClusterId, Error, ErrorMessage, ThrottleTime, uuid


class RemoveRaftVoterRequest(Request, api=REMOVE_RAFT_VOTER):
    """DOC"""

    cluster_id: ClusterId | None
    voter_id: BrokerId
    voter_directory_id: uuid


class RemoveRaftVoterResponse(Response, api=REMOVE_RAFT_VOTER):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
