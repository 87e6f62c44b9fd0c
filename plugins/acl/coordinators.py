"""FindCoordinator: the coordinator of a group, a transactional id or a share partition, as the key type says.

Rules:
* Up to v3 there is one key; from v4 on there are many, and each may be refused. Share partitions are for brokers only;
  in versions before v6 that key type is an error.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.checks import OF_BROKERS, Check
from plugins.acl.errors import ERRORS, GROUP, TRANSACTIONAL_ID, refusal
from proxy.plugin import ErrorCode
from proxy.plugin.schema import arrays
from rules import Operation

KINDS = {0: GROUP, 1: TRANSACTIONAL_ID}
SHARE = 2
BATCHED, SHARED = 4, 6  # versions


class FindCoordinatorCheck(Check):
    """FindCoordinator."""

    answers = True

    def apply(self, checked: CheckedRequest) -> Any:
        request = checked.request
        if request.key_type not in (*KINDS, SHARE):
            return refusal(checked, ErrorCode.INVALID_REQUEST)
        if request.key_type == SHARE and checked.version >= SHARED:
            return OF_BROKERS.apply(checked)
        if checked.version < BATCHED:
            error = self.verdict(checked, request.key)
            return None if error is None else refusal(checked, error)
        (array,) = arrays("coordinator_keys", checked.version, request)
        verdicts = ((index, self.verdict(checked, key)) for index, key in enumerate(array.elements))
        # Brokers leave the message at its default in Java's class, which is empty and not null.
        checked.take_out(
            array, {index: ApiError(error, "") for index, error in verdicts if error is not None}, ordered=True
        )
        return None

    def verdict(self, checked: CheckedRequest, key: str) -> ErrorCode | None:
        """The error for one key; None: it may be served."""
        kind = KINDS.get(checked.request.key_type)
        if kind is None:
            return ErrorCode.INVALID_REQUEST
        return ERRORS[kind] if checked.authorizer.refuses(checked.api, Operation.DESCRIBE, kind, key) else None
