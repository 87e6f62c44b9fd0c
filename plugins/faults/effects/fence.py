"""Fence: another producer takes the transactional id of the client, which becomes a zombie.

Before the broker gets the request, the proxy sends InitProducerId for the id. So everything after it is real: the
broker aborts the open transaction, and refuses all later requests of the zombie, with the errors of its version.

Rules:
* InitProducerId must go to the coordinator of the transaction. A Produce request goes to the leader of a partition, so
  the effect cannot be applied there.
* While the broker aborts an open transaction it answers CONCURRENT_TRANSACTIONS, and the proxy asks again.
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

TIMEOUT = 60_000  # ms, the transaction timeout of producers by default
PAUSE, TRIES = 0.05, 100  # seconds between two attempts, and how many there may be


class FenceProducer(Effect):
    """Take the transactional id away from the producer that sent the request."""

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
