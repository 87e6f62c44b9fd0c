"""Trials: faults are tried on a request or an answer, and the ledger says why one was not applied.

Rules:
* A fault is not applied where other faults exclude it (`pending.py`), or have answered everything that it is about.
* A fault may be about things that only the answer shows. If the answer shows none of them, the fault is not applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plugins.faults.about import NameOf, Thing, shows
from plugins.faults.effect import FaultSide, Target
from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Result
from plugins.faults.model import FaultRule
from plugins.faults.pending import PendingFaults
from proxy.plugin import Context, Steps, turns


class FaultTrials:
    """Tries the faults in force. `name_of`: the names of topics by their ids."""

    def __init__(self, in_force: FaultsInForce, name_of: NameOf) -> None:
        self._in_force, self._name_of = in_force, name_of

    def target(
        self,
        name: str,
        fault: FaultRule,
        ctx: Context,
        message: Any,
        pending: PendingFaults,
        meant: tuple[Thing, ...] = (),
        *,
        all_meant: bool = True,
    ) -> Target:
        """The target of a fault. `meant`: the things of the request that it is about; `all_meant`: they are all."""
        holds = self._in_force.releases.holding(name, fault)
        return Target(
            ctx=ctx,
            message=message,
            match=fault.match,
            subject=pending.subject,
            name_of=self._name_of,
            holds=holds,
            meant=meant,
            all_meant=all_meant,
            to_answer=pending.to_answer,
            asks_all=pending.asks_all,
            memory=self._in_force.memory(name),
        )

    def apply(self, name: str, fault: FaultRule, target: Target, pending: PendingFaults) -> Steps:
        """Apply a fault, unless what other faults did excludes it, or it came after the request."""
        if pending.births.get(name) != self._in_force.births.get(name):
            return None
        if name in pending.open and not self._is_shown(fault, target):
            self._in_force.near_miss(name, "nothing in the answer is meant", target.ctx)
            return None
        cannot = pending.cannot(fault.do.effect)
        if cannot is None:
            return (yield from self._in_force.apply(name, fault, target))
        self._in_force.note(name, Result.CANNOT, cannot, target.ctx)
        return None

    def _is_shown(self, fault: FaultRule, target: Target) -> bool:
        """Whether the answer shows something that a fault is about."""
        return shows(target.message, target.ctx.version, fault.match, target.subject, self._name_of)

    def note_all(self, ctx: Context, faults: Iterable[NamedFault], why: str) -> None:
        """Note that none of these faults can be applied, and why."""
        for name, _ in faults:
            self._in_force.note(name, Result.CANNOT, why, ctx)

    def note_unmeant(self, ctx: Context, name: str, fault: FaultRule, left: list[Thing], asked: list[Thing]) -> None:
        """Note why a fault is about nothing that is left of a request."""
        if left is not asked and any(is_meant(fault, thing) for thing in turns(asked)):
            self._in_force.note(name, Result.CANNOT, "other faults answered what it is about", ctx)
            return
        for thing in turns(left):
            self._in_force.compare(name, fault, thing.subject, ctx)


def is_meant(fault: FaultRule, thing: Thing) -> bool:
    """Whether a fault is about this thing; for a thing that only the answer shows, whether it may be."""
    is_part = thing.is_open and fault.do.effect.at is FaultSide.AFTER_BROKER
    return fault.match.of_subject(thing.subject, is_part=is_part)
