"""Handled frames: what both directions do with a frame that a plugin wants.

Rules:
* A frame is read, shown to its observers, judged by its handlers and written in one task, which gives a `Verdict`. A
  large one is read, judged and written in slices.
* A frame that cannot be read, or on which a handler raised, is not passed on. Both are counted and reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeVar

from proxy.core.context import Context
from proxy.core.events import HandlerFailed, Undecodable
from proxy.core.failure import detached
from proxy.core.filter_chain import FilterChain
from proxy.core.handling import Manner
from proxy.core.interest import Interest
from proxy.core.leaving import Leaving
from proxy.core.limits import Limits
from proxy.core.parts import Parts
from proxy.core.steps import HandlerError
from proxy.core.verdict import Verdict, VerdictSteps, withheld
from proxy.core.wanted import Wanted
from proxy.protocol.fiber import at_once
from proxy.protocol.frame import Buffer
from proxy.protocol.header import framed
from proxy.protocol.problem import ProtocolError, TooManyElementsError
from proxy.protocol.schema import Message
from proxy.protocol.slices import Sliced

T = TypeVar("T")


class Handling(ABC):
    """One direction of one link. `sender` and `kind` are words for people.

    `elements`: how many a large frame may have.
    """

    sender: ClassVar[str]
    kind: ClassVar[str]

    def __init__(self, parts: Parts) -> None:
        self._outcomes = parts.outcomes
        self._outbox = parts.outbox
        self._counters = parts.counters
        self.apply(parts.limits)

    def apply(self, limits: Limits) -> None:
        """These limits are in force."""
        self.elements = self._most(limits)

    def _most(self, limits: Limits) -> int:
        """How many elements a large frame may have."""
        return limits.elements

    @abstractmethod
    def handle(self, wanted: Wanted) -> VerdictSteps:
        """Read a frame, show it to its handlers, and write what is sent for it."""

    def undecodable(self, chain: FilterChain, error: ProtocolError) -> str:
        """A frame that a plugin needs to see cannot be read. Returns why the conversation ends."""
        if isinstance(error, TooManyElementsError):
            self._counters.too_many_elements += 1
            return f"the {self.sender} sent a {self.kind} that the proxy will not read: {error} (limits.elements)"
        self._counters.undecodable += 1
        self._outbox.emit(Undecodable(chain.api, chain.version, detached(error)))
        return f"the {self.sender} sent a {self.kind} that cannot be read: {error}"

    def failed(self, ctx: Context, error: HandlerError) -> str:
        """A handler raised. Returns what failed, as a line for people."""
        ctx.decide(error.handler, "failed")
        self._counters.failed_handlers += 1
        self._outbox.emit(HandlerFailed(error.handler, ctx.api, ctx.version, error.cause, error.at))
        return f"{error} failed on a {ctx.api.name} {self.kind}"

    def _read(self, interest: Interest, wanted: Wanted) -> Message:
        """The message, as far as it is wanted. Raises ProtocolError."""
        message = wanted.message = interest.read(bytes(wanted.frame[wanted.body :]))
        if interest.has_many_records(message):
            wanted.ctx.is_large = True
        return message

    def _slice_read(self, interest: Interest, wanted: Wanted) -> Sliced[Message]:
        """The same for a large frame, in slices."""
        yield
        wanted.is_read = True
        message = yield from interest.slice_read(wanted.frame, wanted.body, self.elements)
        wanted.elements = message.elements
        return message

    def _write(self, interest: Interest, wanted: Wanted, message: Message) -> Sequence[Buffer]:
        """The frame for this message, under the header that came. Raises ProtocolError."""
        return framed(wanted.header, [interest.write(message)])

    def _slice_write(self, interest: Interest, wanted: Wanted, message: Message) -> Sliced[Sequence[Buffer]]:
        """The same for a large frame, in slices."""
        return framed(wanted.header, (yield from interest.slice_write(message)))

    def _paced(self, wanted: Wanted, work: Sliced[T]) -> Sliced[T]:
        """Do this work, in slices if the frame is large."""
        return (yield from work) if wanted.ctx.is_large else at_once(work)

    def _leaving(self, verdict: Verdict, manners: Sequence[Manner], wanted: Wanted) -> tuple[Verdict, Leaving]:
        """The verdict of a frame that leaves in these manners, and how it leaves. Raises HandlerError."""
        leaving = Leaving([wanted.frame] if verdict.pieces is None else verdict.pieces, manners, verdict.copies)
        if leaving.cut is not None:
            return withheld(leaving.cut.reason, leaving.cut.how, [leaving.data]), leaving
        return verdict._replace(pieces=[leaving.data]), leaving
