"""Transactions: becoming a producer, and adding partitions to a transaction.

# An idempotent producer needs a right on the cluster, or to write to any topic at all (KIP-679).
# Partitions are added all or none: one that is refused, or missing, keeps the others from being tried.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import CLUSTER, MESSAGES, TOPIC, TRANSACTIONAL_ID, Check
from plugins.acl.names import missing
from plugins.acl.walk import arrays
from proxy.core.decisions import Decision
from proxy.protocol.errors import ErrorCode
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
        (array,) = arrays("v3_and_below_topics", case.version, request)
        errors: dict[int, ErrorCode] = {
            index: ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for index, topic in enumerate(array.elements)
            if rights.refuses(case.api, Operation.WRITE, TOPIC, topic.name)
        }
        if not errors:
            return None
        others = {topic.name for index, topic in enumerate(array.elements) if index not in errors}
        gone = (yield from missing(sorted(others), ASK_METADATA)) if others else set()
        for index, topic in enumerate(array.elements):
            untried = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic.name in gone else ErrorCode.OPERATION_NOT_ATTEMPTED
            errors.setdefault(index, untried)
        case.take_out(array, errors)
        return None
