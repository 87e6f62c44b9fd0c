"""Kinds: the base classes of effects, by where and to what they are applied.

Rules:
* An effect on answers cannot be applied to a version that lacks the field (`since`), nor to an answer without a part
  that matches (the ledger then has the text of `nothing`).
* An effect that may be applied on either side of the broker is applied where its rule says (`side`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field

from plugins.faults.effect import Effect, FaultSide, Target
from plugins.faults.said_error import SaidError
from proxy.plugin import Api, Decision
from proxy.plugin.files import Seconds, at_least
from rules.trigger import Firing

SentTime = Annotated[Seconds, at_least("1ms")]  # a time that messages say in milliseconds


class SaidSince(NamedTuple):
    """The first version of an API whose answers have a field, and a text for those that lack it."""

    api: Api
    version: int
    lack: str  # e.g. "name no controller"


class AnswerEffect(Effect):
    """The base of effects on answers of the broker."""

    at: ClassVar = FaultSide.AFTER_BROKER
    since: ClassVar[SaidSince | None] = None  # None: answers of all versions have the field

    def cannot(self, target: Target) -> str | None:
        ctx, since = target.ctx, self.since
        if since is not None and ctx.api is since.api and ctx.version < since.version:
            return f"{ctx.api.name} v{ctx.version} answers {since.lack}"
        return None


class PartsEffect(AnswerEffect):
    """The base of effects on parts of answers: their topics, partitions and the like."""

    @property
    def nothing(self) -> str:
        """Why it cannot be applied to an answer without such a part."""
        raise NotImplementedError

    def parts(self, target: Target) -> Iterator[Any]:
        """The parts that match, to which it is applied."""
        raise NotImplementedError

    def cannot(self, target: Target) -> str | None:
        return super().cannot(target) or (None if any(True for _ in self.parts(target)) else self.nothing)


class SidedEffect(Effect):
    """The base of effects that may be applied on either side of the broker."""

    side: FaultSide = Field(
        default=FaultSide.BEFORE_BROKER,
        description="The request, before the broker; or the answer.",
        examples=["after_broker"],
    )

    @property
    def at(self) -> FaultSide:
        return self.side


class SayingEffect(SidedEffect):
    """The base of effects that put an error into an answer, made by the proxy or by the broker."""

    side: FaultSide = Field(
        default=FaultSide.BEFORE_BROKER, description="Before or after the broker does it.", examples=["after_broker"]
    )

    def said(self, target: Target, firing: Firing | None = None) -> SaidError | None:
        """The error; None where brokers have none for this request. `firing`: None before the fault has fired."""
        raise NotImplementedError

    def cannot(self, target: Target) -> str | None:
        said = self.said(target)
        if said is None:
            return f"{target.ctx.api.name} v{target.ctx.version} knows no such error"
        return said.cannot_before(target) if self.side is FaultSide.BEFORE_BROKER else said.cannot_after(target)

    def apply(self, target: Target, firing: Firing) -> Decision:
        said = self.said(target, firing)
        assert said is not None, "it can be done"
        return said.before(target) if self.side is FaultSide.BEFORE_BROKER else said.after(target)
