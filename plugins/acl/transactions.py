"""Transactions: InitProducerId, and adding partitions to a transaction.

Rules:
* An idempotent producer needs IdempotentWrite on the cluster, or the right to write to any topic at all (KIP-679).
* Partitions are added all or none: if one is refused or missing, the others get "operation not attempted".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.checks import OF_BROKERS, Check
from plugins.acl.cluster_topics import partitions
from plugins.acl.errors import CLUSTER, TOPIC, TRANSACTIONAL_ID
from proxy.plugin import Decision, ErrorCode, turns
from proxy.plugin.schema import arrays
from rules import Operation

BY_CLIENTS = 3  # the newest version of AddPartitionsToTxn that clients send; later ones are brokers'


class InitProducerIdCheck(Check):
    """InitProducerId."""

    def apply(self, checked: CheckedRequest) -> Decision:
        request, authorizer = checked.request, checked.authorizer
        if request.transactional_id is None:
            if authorizer.may(Operation.IDEMPOTENT_WRITE, CLUSTER):
                return None
            if not authorizer.refuses_any(checked.api, Operation.WRITE, TOPIC):
                return None
            return checked.refuse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        wanted = [Operation.WRITE]
        if request.enable_2pc:
            wanted.append(Operation.TWO_PHASE_COMMIT)
        for operation in wanted:
            if authorizer.refuses(checked.api, operation, TRANSACTIONAL_ID, request.transactional_id):
                return checked.refuse(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return None


class AddPartitionsToTxnCheck(Check):
    """AddPartitionsToTxn, as clients send it, after the check of its transactional id."""

    answers = True

    def apply(self, checked: CheckedRequest) -> Any:
        request, authorizer = checked.request, checked.authorizer
        if checked.version > BY_CLIENTS:
            return OF_BROKERS.apply(checked)
        named = [topic.name for topic in turns(request.v3_and_below_topics)]
        refused = {
            name for name in dict.fromkeys(named) if authorizer.refuses(checked.api, Operation.WRITE, TOPIC, name)
        }
        if not refused:
            return None
        others = sorted(set(named) - refused)
        there = (yield from partitions(others)) if others else {}
        topics, errors = [], []
        for topic in turns(request.v3_and_below_topics):
            for error, some in _sorted(topic, None if topic.name in refused else there.get(topic.name, set())):
                topics.append(type(topic)(name=topic.name, partitions=some))
                errors.append(ApiError(error))
        request.v3_and_below_topics = topics
        (array,) = arrays("v3_and_below_topics", checked.version, request)
        checked.take_out(array, dict(enumerate(errors)))
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
