"""Errors: the error codes and messages with which brokers refuse, by type of resource."""

from __future__ import annotations

from plugins.acl.checked_request import CheckedRequest
from proxy.plugin import Decision, ErrorCode, api
from rules import ResourceType

CLUSTER = ResourceType.CLUSTER
GROUP = ResourceType.GROUP
TOPIC = ResourceType.TOPIC
TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID

ERRORS = {
    TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}
# The message that a broker gives with an error, where it gives one.
MESSAGES: dict[int, str] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
    ErrorCode.UNKNOWN_TOPIC_ID: "This server does not host this topic ID.",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by the client library "
    "or the message was sent to an incompatible broker. See the broker logs for more details.",
}
# Where a broker refuses a whole request of these APIs, it gives no message.
SILENT = frozenset(
    {
        api.CONSUMER_GROUP_HEARTBEAT,
        api.DESCRIBE_CLIENT_QUOTAS,
        api.DESCRIBE_USER_SCRAM_CREDENTIALS,
        api.SHARE_ACKNOWLEDGE,
        api.SHARE_FETCH,
        api.SHARE_GROUP_HEARTBEAT,
        api.STREAMS_GROUP_HEARTBEAT,
    }
)


def refusal(checked: CheckedRequest, error: ErrorCode) -> Decision:
    """Refuse the whole request, with the message that a broker gives."""
    return checked.refuse(error, None if checked.api in SILENT else MESSAGES[error])
