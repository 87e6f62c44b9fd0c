"""Aborted: the list of aborted transactions beside fetched records is false.

A consumer with isolation level read_committed goes by this list alone. If a transaction is missing in it, the consumer
reads records that were aborted. If one was added, it never gets some committed records, up to the end of the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import Any, ClassVar

from pydantic import Field

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect, SaidSince
from plugins.faults.records import readable
from proxy.plugin import FETCH, Decision, Forward, MessageSet
from rules.trigger import Firing


class FalseList(Enum):
    """What is wrong with the list."""

    MISSING = "missing"
    ADDED = "added"


class FalseAbortedTransactions(AnswerEffect):
    """Change the list of aborted transactions of partitions that match."""

    apis: ClassVar = frozenset({FETCH})
    since: ClassVar = SaidSince(FETCH, 4, "have no aborted transactions")

    what: FalseList = Field(description="All are missing, or all that are not are added.", examples=["missing"])

    def cannot(self, target: Target) -> str | None:
        cannot = super().cannot(target)
        if cannot is not None:
            return cannot
        read = [it for it in target.structs(RECORDS_LEVEL) if it.aborted_transactions is not None]
        if not read:
            return "it is not a fetch of what is committed"
        if self.what is FalseList.MISSING:
            return None if any(it.aborted_transactions for it in read) else "no transaction of it was aborted"
        return None if any(any(_committed(it)) for it in read) else "it has no records of a transaction to be added"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for partition in target.structs(RECORDS_LEVEL):
            if partition.aborted_transactions is not None:
                added = list(_committed(partition)) if self.what is FalseList.ADDED else []
                kept = partition.aborted_transactions if self.what is FalseList.ADDED else []
                partition.aborted_transactions = sorted([*kept, *added], key=lambda it: int(it.first_offset))
        return Forward(target.message)


def _committed(partition: Any) -> Iterator[Any]:
    """The transactions in a partition's answer that were not aborted, as entries for the list of aborted ones."""
    listed = deque(sorted(partition.aborted_transactions, key=lambda it: int(it.first_offset)))
    under_way = set[int]()  # producers whose transaction was aborted, or was yielded already
    for batch in readable(partition.records or b""):
        if isinstance(batch, MessageSet) or not (batch.is_control or batch.is_transactional):
            continue
        if batch.is_control:  # here the transaction of this producer ended
            under_way.discard(batch.producer_id)
            continue
        while listed and listed[0].first_offset <= batch.last_offset:
            under_way.add(listed.popleft().producer_id)
        if batch.producer_id not in under_way:
            under_way.add(batch.producer_id)
            yield type(partition).AbortedTransaction(producer_id=batch.producer_id, first_offset=batch.base_offset)
