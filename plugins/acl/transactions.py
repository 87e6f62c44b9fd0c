"""Transactions: becoming a producer, and adding partitions to a transaction.

# An idempotent producer needs a right on the cluster, or to write to any topic at all (KIP-679).
# Partitions are added all or none: one that is refused, or missing, keeps the others from being tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.acl.case import ApiError, Case
from plugins.acl.checks import CLUSTER, MESSAGES, TOPIC, TRANSACTIONAL_ID, Check
from plugins.acl.cluster_topics import partitions
from proxy.core.decisions import Decision
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.walk import arrays
from rules import Operation

BY_CLIENTS = 3  # the newest version of AddPartitionsToTxn that clients send; later ones are brokers'
ASK_METADATA = 4


class Initialized(Check):
    """InitProducerId."""

    def judge(self, case: Case) -> Decision:
        request, rights = case.request, case.rights
        if request.transactional_id is None:
            if rights.may(Operation.IDEMPOTENT_WRITE, CLUSTER):
                return None
            if not rights.refuses_any(case.api, Operation.WRITE, TOPIC):
                return None
            return case.refuse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        wanted = [Operation.WRITE]
        if request.enable_2pc:
            wanted.append(Operation.TWO_PHASE_COMMIT)
        for operation in wanted:
            if rights.refuses(case.api, operation, TRANSACTIONAL_ID, request.transactional_id):
                return case.refuse(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return None


class Added(Check):
    """AddPartitionsToTxn, as clients send it."""

    answers = True

    def judge(self, case: Case) -> Any:
        request, rights = case.request, case.rights
        if case.version > BY_CLIENTS:
            if rights.refuses(case.api, Operation.CLUSTER_ACTION, CLUSTER):
                return case.refuse(
                    ErrorCode.CLUSTER_AUTHORIZATION_FAILED, MESSAGES[ErrorCode.CLUSTER_AUTHORIZATION_FAILED]
                )
            return None
        if rights.refuses(case.api, Operation.WRITE, TRANSACTIONAL_ID, request.v3_and_below_transactional_id):
            return case.refuse(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        named = [topic.name for topic in turns(request.v3_and_below_topics)]
        refused = {name for name in dict.fromkeys(named) if rights.refuses(case.api, Operation.WRITE, TOPIC, name)}
        if not refused:
            return None
        others = sorted(set(named) - refused)
        there = (yield from partitions(others, ASK_METADATA)) if others else {}
        topics, errors = [], []
        for topic in turns(request.v3_and_below_topics):
            for error, some in _sorted(topic, None if topic.name in refused else there.get(topic.name, set())):
                topics.append(type(topic)(name=topic.name, partitions=some))
                errors.append(ApiError(error))
        request.v3_and_below_topics = topics
        (array,) = arrays("v3_and_below_topics", case.version, request)
        case.take_out(array, dict(enumerate(errors)))
        return None


def _sorted(topic: Any, there: set[int] | None) -> Iterator[tuple[ErrorCode, list[int]]]:
    """The partitions of a topic by their errors; `there` are those that exist, None if it is refused."""
    if there is None:
        yield ErrorCode.TOPIC_AUTHORIZATION_FAILED, topic.partitions
        return
    for error, exists in ((ErrorCode.OPERATION_NOT_ATTEMPTED, True), (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False)):
        some = [partition for partition in turns(topic.partitions) if (partition in there) is exists]
        if some:
            yield error, some
