"""What a broker answers when it refuses a whole request: one error, wherever the answer has a place for it.

Rules:
* The error stands in the outermost struct that has an error field, and the arrays inside stay empty.
* An error about topics stands beside each topic or partition that the request names, where the answer mirrors them.
  Further out a client does not see which topic it is about: a consumer would just ask again, for ever.
  It stands there nevertheless where the request names none: a refusal is never silent if the answer has a place for it.
* All else is left at its default, except what Kafka leaves otherwise (`LEFT`).

Source: AbstractRequest.getErrorResponse of Kafka 4.4.0 and 3.9.1, and for errors about topics what a 4.3.1 broker
answers. Ours differ in this: Fetch answers have session id 0, so that the client begins a session with a full request;
ListPartitionReassignments and DescribeUserScramCredentials do not repeat what was asked without saying what is wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from proxy.protocol.api import (
    ALTER_PARTITION_REASSIGNMENTS,
    API_VERSIONS,
    CREATE_DELEGATION_TOKEN,
    DELETE_RECORDS,
    DESCRIBE_CLIENT_QUOTAS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    ELECT_LEADERS,
    FETCH,
    FIND_COORDINATOR,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    LEADER_AND_ISR,
    METADATA,
    OFFSET_FETCH,
    PRODUCE,
    STOP_REPLICA,
    Api,
)
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.mirror import TOPIC, Chain, identity, mirrored
from proxy.protocol.schema import Field, Request, Response, Struct, StructType, blank
from proxy.protocol.wire import Meaning

ABOUT_TOPICS = frozenset(
    {
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.SNAPSHOT_NOT_FOUND,
        ErrorCode.POSITION_OUT_OF_RANGE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.INELIGIBLE_REPLICA,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.OFFSET_MOVED_TO_TIERED_STORAGE,
        ErrorCode.INVALID_RECORD_STATE,
    }
)

# Answers that say the error at the top and beside each element too, up to this version.
AT_BOTH = {
    FETCH: 12,
    METADATA: 13,
    LEADER_AND_ISR: 7,
    STOP_REPLICA: 4,
    ELECT_LEADERS: 2,
    ALTER_PARTITION_REASSIGNMENTS: 1,
}

# What Kafka leaves in a refusal where it is not the declared default. Null counts in the versions that allow it.
LEFT: dict[Api, dict[str, Any]] = {
    PRODUCE: {"base_offset": -1},
    FETCH: {"high_watermark": -1},
    OFFSET_FETCH: {"committed_offset": -1},
    FIND_COORDINATOR: {"node_id": -1, "port": -1},
    JOIN_GROUP: {"protocol_name": None},
    DELETE_RECORDS: {"low_watermark": -1},
    INIT_PRODUCER_ID: {"producer_epoch": -1},
    CREATE_DELEGATION_TOKEN: {
        "principal_type": "User",
        "principal_name": "ANONYMOUS",  # whoever asked: from here one cannot see who
        "token_requester_principal_type": "User",
        "token_requester_principal_name": "ANONYMOUS",
        "issue_timestamp_ms": -1,
        "expiry_timestamp_ms": -1,
        "max_timestamp_ms": -1,
    },
    DESCRIBE_CLIENT_QUOTAS: {"entries": None},
    DESCRIBE_SHARE_GROUP_OFFSETS: {"start_offset": -1},
}


def refuse(api: Api, version: int, request: Request, error: int, message: str | None = None) -> Response | None:
    """The answer to `request` in `version` that says `error`; None where Kafka never answers (Produce with acks 0)."""
    if isinstance(request, ProduceRequest) and request.acks == 0:
        return None
    answer: Response = Refusal(api, version, error, message).of(api.response, (request,))
    if isinstance(answer, ApiVersionsResponse) and error == ErrorCode.UNSUPPORTED_VERSION:
        # KIP-511: the client learns from this one entry with which version to ask again.
        own = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS.key, min_version=0, max_version=API_VERSIONS.newest)
        answer.api_keys = [own]
    return answer


class Refusal(NamedTuple):
    """One error, to be said in an answer of one version."""

    api: Api
    version: int
    error: int
    message: str | None

    def of(self, cls: type[Any], chain: Chain) -> Any:
        """A `cls` that refuses what is at the end of `chain`."""
        answer = blank(cls)
        fields = [field for field in cls.fields if field.present(self.version)]
        mirrors = {field: list(mirrored(field, self.version, chain)) for field in fields if field.mirrors}
        inside = self.error in ABOUT_TOPICS and any(
            chains and self.says(field, TOPIC) for field, chains in mirrors.items()
        )
        here = not inside and any(field.meaning is Meaning.ERROR for field in fields)
        for field, chains in mirrors.items():
            # An array without errors is part of what identifies its element: the entity of a quota.
            if not here or not self.says(field) or self.version <= AT_BOTH.get(self.api, -1):
                setattr(answer, field.name, self.each(field, chains))
        for field in fields:
            if field not in mirrors:
                self.fill(answer, field, chain, here)
        return answer

    def each(self, field: Field, chains: list[Chain]) -> list[Any]:
        answers: list[Any] = []
        for chain in chains:
            answer = self.of(cast(type[Struct], field.kind), chain)
            # A user whose password is removed and set gets one answer.
            if len(field.mirrors) == 1 or answer not in answers:
                answers.append(answer)
        return answers

    def fill(self, answer: Struct, field: Field, chain: Chain, here: bool) -> None:
        """Set one field, unless its default is right."""
        left = LEFT.get(self.api, {})
        if field.meaning is Meaning.ERROR and field.tag is None:  # a tagged one tells more than whether it was refused
            if here:
                setattr(answer, field.name, self.error)
        elif field.meaning is Meaning.ERROR_MESSAGE:
            if field.may_be_null(self.version) or (here and self.message is not None):
                setattr(answer, field.name, self.message if here else None)
        elif field.name in left:
            if left[field.name] is not None or field.may_be_null(self.version):
                setattr(answer, field.name, left[field.name])
        elif (asked := identity(field, self.version, chain)) is not None and (
            asked.value is not None or field.may_be_null(self.version)
        ):
            setattr(answer, field.name, asked.value)

    def says(self, field: Field, about: frozenset[Meaning] | None = None) -> bool:
        """Is there an error field in the elements of `field` or deeper, in a struct that is `about` one of these?"""
        if not isinstance(field.kind, StructType):
            return False
        inner = [field for field in field.kind.fields if field.present(self.version)]
        meanings = {field.meaning for field in inner}
        if Meaning.ERROR in meanings and (about is None or meanings & about):
            return True
        return any(field.mirrors and self.says(field, about) for field in inner)
