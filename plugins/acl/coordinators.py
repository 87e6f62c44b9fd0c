"""Coordinators: who keeps a group, a transactional id or a share partition, as the key type says.

# Up to v3 there is one key; from v4 on many, of which each may be refused. Share partitions are brokers' own business.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import CLUSTER, ERRORS, GROUP, TRANSACTIONAL_ID, Check, refusal
from plugins.acl.walk import arrays
from proxy.protocol.errors import ErrorCode
from rules import Operation

KINDS = {0: GROUP, 1: TRANSACTIONAL_ID}
SHARE = 2
BATCHED = 4


class Coordinated(Check):
    """FindCoordinator."""

    answers = True

    def judge(self, case: Case) -> Any:
        request, rights = case.request, case.rights
        kind = KINDS.get(request.key_type)
        if kind is None:
            if request.key_type != SHARE:
                return refusal(case, ErrorCode.INVALID_REQUEST)
            if rights.refuses(case.api, Operation.CLUSTER_ACTION, CLUSTER):
                return refusal(case, ERRORS[CLUSTER])
            return None
        if case.version < BATCHED:
            refused = rights.refuses(case.api, Operation.DESCRIBE, kind, request.key)
            return refusal(case, ERRORS[kind]) if refused else None
        (array,) = arrays("coordinator_keys", case.version, request)
        errors = {
            index: ERRORS[kind]
            for index, key in enumerate(array.elements)
            if rights.refuses(case.api, Operation.DESCRIBE, kind, key)
        }
        # Beside these brokers leave the message as Java's class has it, which is empty and not null.
        case.take_out(array, errors, {ERRORS[kind]: ""}, kept=True)
        return None
