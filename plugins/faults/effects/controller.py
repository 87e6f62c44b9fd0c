"""Controller: an answer says that the cluster has no controller, or names another broker than the real one."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.effects.leader import ToldLeader
from plugins.faults.effects.missing import node_id
from plugins.faults.kinds import AnswerEffect, SaidSince
from proxy.plugin import DESCRIBE_CLUSTER, METADATA, Decision, Forward
from rules.trigger import Firing

NOBODY = -1


class FalseController(AnswerEffect):
    """Name another controller, or none."""

    apis: ClassVar = frozenset({DESCRIBE_CLUSTER, METADATA})
    since: ClassVar = SaidSince(METADATA, 1, "name no controller")

    who: ToldLeader = Field(description="Nobody, or another broker of the answer.", examples=["none"])

    def cannot(self, target: Target) -> str | None:
        cannot, answer = super().cannot(target), target.message
        if cannot is not None:
            return cannot
        if answer.controller_id == NOBODY:
            return "the answer names no controller"
        others = self.who is ToldLeader.NONE or any(node_id(it) != answer.controller_id for it in answer.brokers)
        return None if others else "the answer names no other broker"

    def apply(self, target: Target, firing: Firing) -> Decision:
        answer = target.message
        others = sorted(node_id(it) for it in answer.brokers if node_id(it) != answer.controller_id)
        above = next((it for it in others if it > answer.controller_id), others[0] if others else NOBODY)
        answer.controller_id = above if self.who is ToldLeader.OTHER else NOBODY
        return Forward(answer)
