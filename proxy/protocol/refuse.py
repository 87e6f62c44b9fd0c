"""Refusals of whole requests, as a broker gives them: one error, wherever the answer has a place for it.

Rules:
* The error stands in the outermost struct that has an error field, and the arrays inside stay empty.
* An error about topics stands beside each topic or partition that the request names, if the answer mirrors them.
  Further out a client would not see which topic it is about: a consumer would just ask again, for ever.
  If the request names no topic, the error stands further out: a refusal is never silent if the answer has a place for
  it.
* All other fields keep their defaults, except those to which Kafka gives another value (`refusal_shapes.LEFT`).
* The caller may name another level for the error (`levels.py`): for faults, not for refusals.

Source: AbstractRequest.getErrorResponse of Kafka 4.4.0 and 3.9.1, and for errors about topics what a 4.3.1 broker
answers. Ours differ in this: Fetch answers have session id 0, so that the client begins a session with a full request.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from proxy.protocol.api import API_VERSIONS, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turn, turns
from proxy.protocol.levels import errors, levels
from proxy.protocol.levels import level as level_of
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.mirror import TOPIC, mirrored
from proxy.protocol.refusal_shapes import ABOUT_TOPICS, AT_BOTH, Shape, kinds, says, shape_of
from proxy.protocol.schema import Field, Request, Response, Struct, blank
from proxy.protocol.walk import StructChain


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
            if field.mirrors and field.present(version) and says(field, version, about):
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
        shape = shape_of(self.api, self.version, cast(type[Struct], cls), kinds(chain))
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
