"""Coordinators: who keeps a group, a transactional id or a share partition, as the key type says.

# Up to v3 there is one key; from v4 on many, of which each may be refused. Share partitions are brokers' own business,
# and in versions before they were thought of an error.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import ApiError, Case
from plugins.acl.checks import CLUSTER, ERRORS, GROUP, TRANSACTIONAL_ID, Check, refusal
from proxy.protocol.errors import ErrorCode
from proxy.protocol.walk import arrays
from rules import Operation

KINDS = {0: GROUP, 1: TRANSACTIONAL_ID}
SHARE = 2
BATCHED, SHARED = 4, 6  # versions


class Coordinated(Check):
    """FindCoordinator."""

    answers = True

    def judge(self, case: Case) -> Any:
        request = case.request
        if request.key_type not in (*KINDS, SHARE):
            return refusal(case, ErrorCode.INVALID_REQUEST)
        if request.key_type == SHARE and case.version >= SHARED:
            refused = case.rights.refuses(case.api, Operation.CLUSTER_ACTION, CLUSTER)
            return refusal(case, ERRORS[CLUSTER]) if refused else None
        if case.version < BATCHED:
            error = self.verdict(case, request.key)
            return None if error is None else refusal(case, error)
        (array,) = arrays("coordinator_keys", case.version, request)
        verdicts = ((index, self.verdict(case, key)) for index, key in enumerate(array.elements))
        # Brokers leave the message as Java's class has it, which is empty and not null.
        case.take_out(array, {index: ApiError(error, "") for index, error in verdicts if error is not None}, kept=True)
        return None

    def verdict(self, case: Case, key: str) -> ErrorCode | None:
        """What to say of one key."""
        kind = KINDS.get(case.request.key_type)
        if kind is None:
            return ErrorCode.INVALID_REQUEST
        return ERRORS[kind] if case.rights.refuses(case.api, Operation.DESCRIBE, kind, key) else None
