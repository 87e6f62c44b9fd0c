"""Fence: another producer takes the transactional id of the one that asks, which becomes a zombie.

The broker is asked for the id anew (InitProducerId) before it gets the request. So all that follows is real: it takes
back the open transaction, and refuses whatever the zombie sends, in the words of its version.

# Only the coordinator of the transaction can be asked: what is done to Produce would ask the leader of a partition.
# A transaction that is open has to be taken back first: until then the broker says CONCURRENT_TRANSACTIONS.
"""

from __future__ import annotations

from typing import ClassVar

from plugins.faults.effect import Effect, Target
from proxy.plugin import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    END_TXN,
    Ask,
    ErrorCode,
    InitProducerIdRequest,
    Sleep,
    Steps,
)
from rules.trigger import Firing

TIMEOUT = 60_000  # ms: of a transaction, as producers have it
PAUSE, TRIES = 0.05, 100  # seconds between two questions, and how many there may be


class FenceProducer(Effect):
    """Have another producer take the place of the one that asks."""

    apis: ClassVar = frozenset({ADD_OFFSETS_TO_TXN, ADD_PARTITIONS_TO_TXN, END_TXN})

    def cannot(self, target: Target) -> str | None:
        return None if _transactional_id(target) else "it names no transactional id"

    def apply(self, target: Target, firing: Firing) -> Steps:
        taken = InitProducerIdRequest(transactional_id=_transactional_id(target), transaction_timeout_ms=TIMEOUT)
        for _ in range(TRIES):
            answer = yield Ask(taken)
            if answer.error_code != ErrorCode.CONCURRENT_TRANSACTIONS:
                break
            yield Sleep(PAUSE)
        return None


def _transactional_id(target: Target) -> str | None:
    return target.subject.transactional_id
