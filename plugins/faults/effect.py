"""An effect: what a fault does to a request, its answer or a connection. `effects` has a module for each.

Rules:
* An effect is asked first whether it can be applied (`cannot`). If it cannot, the fault does not fire, and the ledger
  says why.
* An effect on answers is never asked about a request without an answer: `on_requests.py` ensures that.
* An effect decides nothing else: the rule says which requests match, and when it fires.
* An effect is declared as an option of `do`, and is immutable. Everything it needs to know is in its `Target`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from plugins.faults.about import NameOf, Thing, at_level
from proxy.plugin import APIS, PRODUCE, Api, Context, Decision, How, Options, Response, Steps
from rules.match import Match, Subject
from rules.trigger import Firing

EVERY = frozenset(APIS.values())


class FaultSide(Enum):
    """Where an effect is applied: to the request before the broker, or to the answer after it."""

    BEFORE_BROKER = "before_broker"
    AFTER_BROKER = "after_broker"


class EndOfConnection(Enum):
    """How a connection ends, as written in a file."""

    CLOSE = "close"
    RESET = "reset"
    HALF_CLOSE = "half_close"
    BLACK_HOLE = "black_hole"

    @property
    def how(self) -> How:
        return How[self.name]


@dataclass(frozen=True, slots=True)
class Target:
    """What an effect is applied to: a request, or the answer to one, and which things in it match."""

    ctx: Context
    message: Any
    match: Match
    subject: Subject  # the properties of the request as a whole
    name_of: NameOf
    holds: Callable[[], bool]  # whether the rule is still in force, and has not been released
    meant: tuple[Thing, ...] = ()  # the things of a request that match
    all_meant: bool = True  # whether all its things match
    to_answer: list[Callable[[Response], None]] = field(default_factory=list)  # changes to make to the answer
    asks_all: bool = False  # the request has no list, and so asks for all
    memory: dict[Any, Any] = field(default_factory=dict)  # this fault's memory of earlier answers

    def structs(self, level: str) -> Iterator[Any]:
        """The structs of an answer at this level that match."""
        for struct, about in at_level(self.message, self.ctx.version, level, self.subject, self.name_of):
            if self.match.of_subject(about, is_part=True):
                yield struct


class Effect(Options):
    """The base of all effects."""

    of_connections: ClassVar[bool] = False  # whether it is applied to connections when they are accepted
    of_requests: ClassVar[bool] = True
    of_frames: ClassVar[bool] = False  # whether it decides how a frame leaves; such effects come last

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs to whose requests it can be applied."""
        return EVERY

    @property
    def at(self) -> FaultSide:
        """Where it is applied: before or after the broker."""
        return FaultSide.BEFORE_BROKER

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        """What is wrong with it in a rule about requests of these APIs: the option, and the message."""
        return iter(())

    def answers_elements(self, ctx: Context) -> bool:
        """Whether it answers a request before the broker, element by element of the request."""
        return False

    def remember(self, target: Target) -> None:
        """Learn from an answer that matches, before the fault is asked whether it fires."""

    def cannot(self, target: Target) -> str | None:
        """Why it cannot be applied to this target; None if it can."""
        return None

    def apply(self, target: Target, firing: Firing) -> Decision | Steps:
        """Apply it."""
        raise NotImplementedError

    def refuse(self, rule: str) -> Decision | Steps:
        """Apply it to a new connection; for effects with `of_connections`."""
        raise NotImplementedError


def no_answer(target: Target) -> str | None:
    """Why the request has no answer that could be changed; None if it has one."""
    is_silent = target.ctx.api is PRODUCE and getattr(target.message, "acks", 1) == 0
    return "a Produce request with acks 0 has no answer" if is_silent else None
