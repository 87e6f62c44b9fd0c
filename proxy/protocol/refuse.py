"""Refusals of whole requests, as a broker gives them: one error, wherever the answer has a place for it.

Rules:
* The error stands in the outermost struct that has an error field, and the arrays inside stay empty.
* An error about topics stands beside each topic or partition that the request names, if the answer mirrors them.
  Further out a client would not see which topic it is about: a consumer would just ask again, for ever.
  If the request names no topic, the error stands further out: a refusal is never silent if the answer has a place for
  it.
* All other fields keep their defaults, except those to which Kafka gives another value (`LEFT`).
* The caller may name another level for the error (`levels.py`): for faults, not for refusals.

Source: AbstractRequest.getErrorResponse of Kafka 4.4.0 and 3.9.1, and for errors about topics what a 4.3.1 broker
answers. Ours differ in this: Fetch answers have session id 0, so that the client begins a session with a full request.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, cast

from proxy.protocol.api import (
    ALTER_PARTITION_REASSIGNMENTS,
    API_VERSIONS,
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
from proxy.protocol.fiber import turn, turns
from proxy.protocol.levels import errors, levels
from proxy.protocol.levels import level as level_of
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.mirror import TOPIC, Counterpart, counterpart, mirrored
from proxy.protocol.schema import Field, Request, Response, Struct, StructType, blank
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


def refuse(
    api: Api, version: int, request: Request, error: int, message: str | None = None, level: str | None = None
) -> Response | None:
    """The answer to `request` in `version` with `error`; None if Kafka never answers (Produce with acks 0)."""
    if isinstance(request, ProduceRequest) and request.acks == 0:
        return None
    answer: Response = Refusal(api, version, error, message, level).of(api.response, (request,))
    if isinstance(answer, ApiVersionsResponse) and error == ErrorCode.UNSUPPORTED_VERSION:
        # KIP-511: the client learns from this one entry with which version to ask again.
        own = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS.key, min_version=0, max_version=API_VERSIONS.newest)
        answer.api_keys = [own]
    return answer


def usual_level(api: Api, version: int, error: int) -> str:
    """The level at which a broker puts this error, of those that an answer of this version has.

    An error that brokers never put into such an answer has the outermost level.
    """
    usual, known = level_of(_usual(api.response, version, error in ABOUT_TOPICS)), levels(api.response, version)
    return usual if usual in known or not known else known[0]


def _usual(cls: type[Struct], version: int, is_about_topics: bool) -> type[Struct]:
    """The innermost struct that carries an error about topics; for any other error the outermost."""
    if is_about_topics or not errors(cls, version):
        about = TOPIC if is_about_topics else None
        for field in cls.fields:
            if field.mirrors and field.present(version) and _says(field, version, about):
                return _usual(cast(type[Struct], field.kind), version, is_about_topics)
    return cls


class Refusal(NamedTuple):
    """One error, to be put into an answer of one version."""

    api: Api
    version: int
    error: int
    message: str | None
    level: str | None = None  # where the error stands, if not where Kafka's brokers put it

    def of(self, cls: type[Any], chain: StructChain) -> Any:
        """A `cls` that refuses the struct or element at the end of `chain`."""
        turn()
        shape = _shape(self.api, self.version, cast(type[Struct], cls), tuple(map(_kind, chain[1:])))
        answer = blank(cls)
        here = self._inside(shape, answer, chain) if shape.mirrors else shape.has_error
        self._fill(shape, answer, chain, here)
        return answer

    def _inside(self, shape: Shape, answer: Struct, chain: StructChain) -> bool:
        """Refuse the elements of the arrays. Returns whether the error stands outside of them."""
        found = [(mirror, mirrored(mirror.field, self.version, chain)) for mirror in shape.mirrors]
        if self.level is None:
            inside = self.error in ABOUT_TOPICS and any(chains and mirror.says_topic for mirror, chains in found)
        else:
            inside = self.level != shape.level and any(chains and self.level in it.levels for it, chains in found)
        here = shape.has_error and not inside
        for mirror, chains in found:
            # An array without errors is part of its element's identity: the entity of a quota.
            if not here or not mirror.says or self.version <= AT_BOTH.get(self.api, -1):
                setattr(answer, mirror.field.name, self._each(mirror.field, chains))
        return here

    def _each(self, field: Field, chains: list[StructChain]) -> list[Any]:
        answers = [self.of(cast(type[Struct], field.kind), chain) for chain in chains]
        if len(field.mirrors) == 1:
            return answers
        # A user whose password is removed and set gets one answer.
        own = [inner.name for inner in cast(type[Struct], field.kind).fields if not inner.is_array]
        told: dict[tuple[Any, ...], Any] = {}
        for answer in turns(answers):
            told.setdefault(tuple(getattr(answer, name) for name in own), answer)
        return list(told.values())

    def _fill(self, shape: Shape, answer: Struct, chain: StructChain, here: bool) -> None:
        """Set the fields that are no arrays, unless their default is right."""
        if here:
            for name in shape.errors:
                setattr(answer, name, self.error)
        for name, nullable in shape.messages:
            if nullable or (here and self.message is not None):
                setattr(answer, name, self.message if here else None)
        for name, value in shape.left:
            setattr(answer, name, value)
        for name, place, nullable in shape.repeated:
            value = place.of(chain)
            if value is not None or nullable:
                setattr(answer, name, value)


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


def _kind(asked: Struct | Element) -> type[Struct] | Field:
    return asked.field if isinstance(asked, Element) else type(asked)


@cache
def _shape(api: Api, version: int, cls: type[Struct], kinds: tuple[type[Struct] | Field, ...]) -> Shape:
    """What to set in a `cls` that answers the last of these."""
    fields = [field for field in cls.fields if field.present(version)]
    mirrors, errors, messages, left, repeated = [], [], [], [], []
    for field in fields:
        nullable = field.may_be_null(version)
        if field.mirrors:
            inner = frozenset(levels(field.kind, version)) if isinstance(field.kind, StructType) else frozenset[str]()
            mirrors.append(Mirror(field, _says(field, version), _says(field, version, TOPIC), inner))
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


def _says(field: Field, version: int, about: frozenset[Meaning] | None = None) -> bool:
    """Is there an error field in the elements of `field` or deeper, in a struct that is `about` one of these?"""
    if not isinstance(field.kind, StructType):
        return False
    inner = [field for field in field.kind.fields if field.present(version)]
    meanings = {field.meaning for field in inner}
    if Meaning.ERROR in meanings and (about is None or meanings & about):
        return True
    return any(field.mirrors and _says(field, version, about) for field in inner)
