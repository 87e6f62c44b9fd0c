"""Unstable: the coordinator of a group or of a transaction is moving to another broker.

FindCoordinator answers that there is none at the moment. The coordinator itself answers that it is none any more, that
it is still loading its state, or that it is not available: a random one of these, or always the same.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.kinds import SayingEffect
from plugins.faults.said_error import SaidError
from proxy.plugin import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    CONSUMER_GROUP_DESCRIBE,
    CONSUMER_GROUP_HEARTBEAT,
    DELETE_GROUPS,
    DESCRIBE_GROUPS,
    END_TXN,
    FIND_COORDINATOR,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_DELETE,
    OFFSET_FETCH,
    SHARE_GROUP_DESCRIBE,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_DESCRIBE,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
    TXN_OFFSET_COMMIT,
    ErrorCode,
)
from rules.trigger import Firing

COORDINATED = frozenset(
    {
        *(ADD_OFFSETS_TO_TXN, ADD_PARTITIONS_TO_TXN, END_TXN, INIT_PRODUCER_ID, TXN_OFFSET_COMMIT),
        *(CONSUMER_GROUP_DESCRIBE, DESCRIBE_GROUPS, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE, DELETE_GROUPS),
        *(CONSUMER_GROUP_HEARTBEAT, HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT),
        *(JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH),
    }
)


class CoordinatorState(Enum):
    """The state of a coordinator."""

    ANY = "any"
    MOVED = "moved"
    LOADING = "loading"
    UNAVAILABLE = "unavailable"


CODES = {
    CoordinatorState.MOVED: ErrorCode.NOT_COORDINATOR,
    CoordinatorState.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    CoordinatorState.UNAVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


class UnstableCoordinator(SayingEffect):
    """Answer that the coordinator is not there."""

    apis: ClassVar = COORDINATED | {FIND_COORDINATOR}

    what: CoordinatorState = Field(
        default=CoordinatorState.ANY, description="Always the same, or any of them.", examples=["loading"]
    )

    def said(self, target: Target, firing: Firing | None = None) -> SaidError:
        if target.ctx.api is FIND_COORDINATOR:
            return SaidError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        codes = list(CODES.values())
        chance = firing.chance("state") if firing is not None else 0.0  # an answer can have either all of them or none
        return SaidError(CODES.get(self.what) or codes[int(chance * len(codes))])
