"""An effect: what a fault does to a request, its answer or a connection. One effect a file, in `effects`.

# An effect is asked first whether it can be applied (`cannot`). What cannot is no firing, and the ledger says why.
# One that is done to answers is never asked about a request without an answer: `on_requests.py` sees to that.
# It decides nothing else: which requests are meant, and when, is the rule's.
# It is declared as an option of `do`, and never changes. What it needs to know is in its `Target`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from plugins.faults.about import Thing, TopicName, at_level
from proxy.plugin import APIS, PRODUCE, Api, Context, Decision, How, Options, Response, Steps
from rules.match import Match, Subject
from rules.trigger import Firing

EVERY = frozenset(APIS.values())


class FaultSide(Enum):
    """Where on its way a request is when something is done to it."""

    BEFORE_BROKER = "before_broker"
    AFTER_BROKER = "after_broker"


class EndOfConnection(Enum):
    """How a connection ends, as a file says it."""

    CLOSE = "close"
    RESET = "reset"
    HALF_CLOSE = "half_close"
    BLACK_HOLE = "black_hole"

    @property
    def how(self) -> How:
        return How[self.name]


@dataclass(frozen=True, slots=True)
class Target:
    """What an effect is applied to: a request, or the answer to one, and what of it is meant."""

    ctx: Context
    message: Any
    match: Match
    subject: Subject  # what the request said for all of it
    name_of: TopicName
    holds: Callable[[], bool]  # whether the rule is still in force, and nobody released what it holds
    meant: tuple[Thing, ...] = ()  # of a request, those that are
    all_meant: bool = True  # and whether there are no others
    to_answer: list[Callable[[Response], None]] = field(default_factory=list)  # what is to be done to the answer
    asks_all: bool = False  # the request names nothing, and so asks for all
    memory: dict[Any, Any] = field(default_factory=dict)  # what this fault remembers from one answer to the next

    def structs(self, level: str) -> Iterator[Any]:
        """Of an answer, the structs at this level that are meant."""
        for struct, about in at_level(self.message, self.ctx.version, level, self.subject, self.name_of):
            if self.match.of_subject(about, is_part=True):
                yield struct


class Effect(Options):
    """The base of all effects."""

    of_connections: ClassVar[bool] = False  # it is done to connections when they are accepted
    of_requests: ClassVar[bool] = True

    @property
    def apis(self) -> frozenset[Api]:
        """The only APIs to whose requests it can be done."""
        return EVERY

    @property
    def at(self) -> FaultSide:
        """Where it is done to a request."""
        return FaultSide.BEFORE_BROKER

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        """What is wrong with it for a rule about requests of these APIs: the option, and what to say."""
        return iter(())

    def remember(self, target: Target) -> None:
        """Learn from an answer that is meant, before it is known whether the fault fires."""

    def cannot(self, target: Target) -> str | None:
        """Why it cannot be applied to this; None if it can."""
        return None

    def apply(self, target: Target, firing: Firing) -> Decision | Steps:
        """Do it."""
        raise NotImplementedError

    def refuse(self, rule: str) -> Decision | Steps:
        """What becomes of a connection that was accepted, where it is done to these."""
        raise NotImplementedError


def no_answer(target: Target) -> str | None:
    """Why there is no answer that anything could be done to; None if there is one."""
    is_silent = target.ctx.api is PRODUCE and getattr(target.message, "acks", 1) == 0
    return "a Produce request with acks 0 has no answer" if is_silent else None
