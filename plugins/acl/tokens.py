"""Delegation tokens: whoever owns one may use it, so it matters for whom it is made and to whom it is shown.

# Everybody may have tokens of its own. For another there must be a right: CREATE_TOKENS on that user, as `User:name`.
# The broker sees the proxy where SASL ends here: a token that turns out to be anybody else's is not handed out.
# A token is shown to its owner, its renewers, and whoever may describe it or the tokens of its owner.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import Check
from plugins.acl.law import client
from proxy.core.decisions import Reply
from proxy.protocol.errors import ErrorCode
from proxy.protocol.refuse import refuse
from rules import Operation, ResourceType

REFUSED = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED


def own(case: Case) -> str | None:
    """Who asks; None where only the broker knows."""
    who = client(case.ctx.connection)
    return None if who is None else who.principal


class TokenMade(Check):
    """CreateDelegationToken."""

    answers = True

    def judge(self, case: Case) -> Any:
        request = case.request
        if request.owner_principal_name:
            owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
            if self.refuses(case, owner):
                return self._refuse(case)
        case.after.append(self.check)
        return None

    def _refuse(self, case: Case) -> Reply:
        """Say for whom, and who asked."""
        answer: Any = refuse(case.api, case.version, case.request, REFUSED)
        answer.principal_type, answer.principal_name = (
            case.request.owner_principal_type,
            case.request.owner_principal_name,
        )
        who = own(case)
        if who is not None:
            kind, _, name = who.partition(":")
            answer.token_requester_principal_type, answer.token_requester_principal_name = kind, name
        return Reply(answer)

    def refuses(self, case: Case, owner: str) -> bool:
        return owner != own(case) and case.rights.refuses(case.api, Operation.CREATE_TOKENS, ResourceType.USER, owner)

    def check(self, case: Case, response: Any) -> None:
        owner = f"{response.principal_type}:{response.principal_name}"
        if not response.error_code and self.refuses(case, owner):
            response.error_code = REFUSED
            response.token_id, response.hmac = "", b""


class TokensShown(Check):
    """DescribeDelegationToken."""

    answers = True

    def judge(self, case: Case) -> Any:
        case.after.append(self.filter)
        return None

    def filter(self, case: Case, response: Any) -> None:
        response.tokens = [token for token in response.tokens if not self.hides(case, token)]

    def hides(self, case: Case, token: Any) -> bool:
        owner = f"{token.principal_type}:{token.principal_name}"
        close = {owner, *(f"{other.principal_type}:{other.principal_name}" for other in token.renewers)}
        if own(case) in close or case.rights.may(Operation.DESCRIBE_TOKENS, ResourceType.USER, owner):
            return False
        return case.rights.hides(case.api, Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
