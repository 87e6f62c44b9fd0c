"""Refusal shapes: where an answer of each API has a place for an error, and which other values stand beside it.

Source: AbstractRequest.getErrorResponse of Kafka 4.4.0 and 3.9.1, and for errors about topics what a 4.3.1 broker
answers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.api import (
    ALTER_PARTITION_REASSIGNMENTS,
    CREATE_DELEGATION_TOKEN,
    DELETE_RECORDS,
    DESCRIBE_CLIENT_QUOTAS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    DESCRIBE_USER_SCRAM_CREDENTIALS,
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
from proxy.protocol.levels import level as level_of
from proxy.protocol.levels import levels
from proxy.protocol.mirror import TOPIC, Counterpart, counterpart
from proxy.protocol.schema import Field, Struct, StructType
from proxy.protocol.walk import Element, StructChain
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

# Answers that have the error at the top and also beside each element, up to this version.
AT_BOTH = {
    FETCH: 12,
    METADATA: 13,
    LEADER_AND_ISR: 7,
    STOP_REPLICA: 4,
    ELECT_LEADERS: 2,
    ALTER_PARTITION_REASSIGNMENTS: 1,
    DESCRIBE_USER_SCRAM_CREDENTIALS: 0,
}

# The values of a refusal by Kafka that are not the declared defaults. Null counts in the versions that allow it.
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
        "principal_name": "ANONYMOUS",  # Kafka has the requester here, which is not known in this module
        "token_requester_principal_type": "User",
        "token_requester_principal_name": "ANONYMOUS",
        "issue_timestamp_ms": -1,
        "expiry_timestamp_ms": -1,
        "max_timestamp_ms": -1,
    },
    DESCRIBE_CLIENT_QUOTAS: {"entries": None},
    DESCRIBE_SHARE_GROUP_OFFSETS: {"start_offset": -1},
    DESCRIBE_USER_SCRAM_CREDENTIALS: {"user": ""},  # as many users as were asked for, without their names
}


class Mirror(NamedTuple):
    """An array of an answer that mirrors one of the request. Has it errors in it, and errors about topics?"""

    field: Field
    says: bool
    says_topic: bool
    levels: frozenset[str]


class Shape(NamedTuple):
    """What to set in one struct of an answer, by names of fields. The flags: may it be null?"""

    level: str
    mirrors: tuple[Mirror, ...]
    has_error: bool
    errors: tuple[str, ...]
    messages: tuple[tuple[str, bool], ...]
    left: tuple[tuple[str, Any], ...]
    repeated: tuple[tuple[str, Counterpart, bool], ...]


def kinds(chain: StructChain) -> tuple[type[Struct] | Field, ...]:
    """The kinds of all but the first of these structs and elements."""
    return tuple(asked.field if isinstance(asked, Element) else type(asked) for asked in chain[1:])


@cache
def shape_of(api: Api, version: int, cls: type[Struct], kinds: tuple[type[Struct] | Field, ...]) -> Shape:
    """What to set in a `cls` that answers the last of these."""
    fields = [field for field in cls.fields if field.present(version)]
    mirrors, errors, messages, left, repeated = [], [], [], [], []
    for field in fields:
        nullable = field.may_be_null(version)
        if field.mirrors:
            inner = frozenset(levels(field.kind, version)) if isinstance(field.kind, StructType) else frozenset[str]()
            mirrors.append(Mirror(field, says(field, version), says(field, version, TOPIC), inner))
        elif field.meaning is Meaning.ERROR and field.tag is None:
            errors.append(field.name)  # a tagged error says more than whether the request was refused
        elif field.meaning is Meaning.ERROR_MESSAGE:
            messages.append((field.name, nullable))
        elif field.name in LEFT.get(api, {}):
            value = LEFT[api][field.name]
            if value is not None or nullable:
                left.append((field.name, value))
        elif (place := counterpart(field, version, kinds)) is not None:
            repeated.append((field.name, place, nullable))
    has_error = any(field.meaning is Meaning.ERROR for field in fields)
    return Shape(level_of(cls), tuple(mirrors), has_error, tuple(errors), tuple(messages), tuple(left), tuple(repeated))


def says(field: Field, version: int, about: frozenset[Meaning] | None = None) -> bool:
    """Is there an error field in the elements of `field` or deeper, in a struct that is `about` one of these?"""
    if not isinstance(field.kind, StructType):
        return False
    inner = [field for field in field.kind.fields if field.present(version)]
    meanings = {field.meaning for field in inner}
    if Meaning.ERROR in meanings and (about is None or meanings & about):
        return True
    return any(field.mirrors and says(field, version, about) for field in inner)
