"""Lose: the client gets the answer that its request succeeded, and the broker never sees the request.

So a write is acknowledged and lost, a commit is not kept, a transaction never ends. With heartbeats, a member believes
that it is in its group until the group has expelled it.

Rules:
* What the request is about is in the answer, element by element, as clients look for it there.
* The client's member or producer id and its epoch are in the answer as they were in the request.
* A heartbeat with which a member joins or leaves cannot be lost: only the broker knows its answer.
"""

from __future__ import annotations

from typing import Any, ClassVar

from plugins.faults.effect import Effect, Target
from plugins.faults.effects.expel import WITH_EPOCHS
from plugins.faults.said_error import SaidError
from proxy.plugin import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    DELETE_TOPICS,
    END_TXN,
    HEARTBEAT,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_DELETE,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    TXN_OFFSET_COMMIT,
    Decision,
    ErrorCode,
    Reply,
)
from proxy.plugin.schema import levels
from rules.trigger import Firing

LOSING = WITH_EPOCHS | {
    *(PRODUCE, OFFSET_COMMIT, OFFSET_DELETE, DELETE_TOPICS, SHARE_ACKNOWLEDGE, HEARTBEAT, LEAVE_GROUP),
    *(ADD_OFFSETS_TO_TXN, ADD_PARTITIONS_TO_TXN, TXN_OFFSET_COMMIT, END_TXN),
}
REPEATED = ("member_id", "member_epoch", "producer_id", "producer_epoch", "endpoint_information_epoch")
INTERVAL = 5000  # ms between two heartbeats, as brokers have it
# The levels of the elements in answers that have an error of their own beside those of the elements.
ELEMENTS = {
    ADD_PARTITIONS_TO_TXN: "partition",
    LEAVE_GROUP: "member",
    OFFSET_DELETE: "partition",
    SHARE_ACKNOWLEDGE: "partition",
}


class LoseRequest(Effect):
    """Answer a request with success in the broker's place."""

    apis: ClassVar = frozenset(LOSING)

    def cannot(self, target: Target) -> str | None:
        if target.ctx.api in WITH_EPOCHS and target.message.member_epoch <= 0:
            return "the member joins or leaves, and only the broker can say what it is to have"
        return _all_is_well(target).cannot_before(target)

    def apply(self, target: Target, firing: Firing) -> Decision:
        decision = _all_is_well(target).before(target)
        if isinstance(decision, Reply):
            _complete(decision.message, target)
        return decision


def _all_is_well(target: Target) -> SaidError:
    """Success, for each element of the request if it has some."""
    ctx, level = target.ctx, ELEMENTS.get(target.ctx.api)
    has_some = target.all_meant and any(it.array is not None for it in target.meant)
    return SaidError(ErrorCode.NONE, level if has_some and level in levels(ctx.api.response, ctx.version) else None)


def _complete(answer: Any, target: Target) -> None:
    """Fill in the other fields of an answer of success."""
    said = {field.name for field in type(answer).fields if field.present(target.ctx.version)}
    for name in REPEATED:
        if name in said:
            setattr(answer, name, getattr(target.message, name))
    for name in ("heartbeat_interval_ms", "task_offset_interval_ms"):
        if name in said:
            setattr(answer, name, INTERVAL)
