"""Delegation tokens: which client may create one, for which user, and which may see one.

Rules:
* Every client may create tokens of its own. For another user it needs CREATE_TOKENS on that user (`User:name`). Type
  and name are compared one by one, as by brokers: `User:a` and `b` are not `User` and `a:b`.
* The proxy may be one user to the broker for all its clients. The broker then creates tokens for that user, so a
  request without an owner needs the right to that user's tokens. The broker cannot tell whose a token is, so the proxy
  looks up its owner before it is renewed or ended. No token is created where the broker's owner for it is not known.
* A client that did not authenticate is refused, as by a broker.
* A token is shown to its owner, to its renewers, and to clients that may describe it or the tokens of its owner.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from proxy.plugin import Ask, DescribeDelegationTokenRequest, ErrorCode, Reply, refuse
from rules import Operation, ResourceType
from rules.clients import ANONYMOUS, client_of

REFUSED = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


class TokenPrincipal(NamedTuple):
    """A user, in the two parts by which brokers compare them (KafkaPrincipal). As text it is the name of a resource."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


def principal(text: str) -> TokenPrincipal:
    """A principal of ours: its type has no colon."""
    kind, _, name = text.partition(":")
    return TokenPrincipal(kind, name)


def own(checked: CheckedRequest) -> TokenPrincipal | None:
    """The client's own principal; None where only the broker knows it."""
    who = client_of(checked.connection)
    return None if who is None else principal(who.principal)


def taken_for(checked: CheckedRequest) -> TokenPrincipal | None:
    """The principal that the broker takes the client for; None where only the broker knows it."""
    told = checked.connection.taken_for
    if told is None:
        return own(checked)
    return principal(told) if told else None


def is_anybody(checked: CheckedRequest) -> bool:
    """Whether the client did not authenticate, while the proxy speaks for it at the broker."""
    connection = checked.connection
    return connection.taken_for is not None and connection.principal is None


def _owner(checked: CheckedRequest) -> TokenPrincipal | None:
    """The owner that a CreateDelegationToken names; None: it names none. A type may be missing."""
    request = checked.request
    if not request.owner_principal_name:
        return None
    return TokenPrincipal(request.owner_principal_type or "", request.owner_principal_name)


class CreateTokenCheck(Check):
    """CreateDelegationToken."""

    answers = True

    def apply(self, checked: CheckedRequest) -> Any:
        if is_anybody(checked):
            return self._refuse(checked, NOT_ALLOWED)
        owner = _owner(checked) or taken_for(checked)
        unknown = owner is None and not checked.authorizer.is_shadow
        if unknown or (owner is not None and self.refuses(checked, owner)):
            return self._refuse(checked, REFUSED)
        checked.judging.append(self.check)
        return None

    def _refuse(self, checked: CheckedRequest, error: ErrorCode) -> Reply:
        """Refuse with an answer that names the owner and the requester."""
        answer: Any = refuse(checked.api, checked.version, checked.request, error)
        requester = own(checked) or principal(ANONYMOUS)
        answer.token_requester_principal_type, answer.token_requester_principal_name = requester
        answer.principal_type, answer.principal_name = _owner(checked) or requester
        return Reply(answer)

    def refuses(self, checked: CheckedRequest, owner: TokenPrincipal) -> bool:
        return owner != own(checked) and checked.authorizer.refuses(
            checked.api, Operation.CREATE_TOKENS, ResourceType.USER, str(owner)
        )

    def check(self, checked: CheckedRequest, response: Any) -> None:
        owner = TokenPrincipal(response.principal_type, response.principal_name)
        if not response.error_code and self.refuses(checked, owner):
            response.error_code = REFUSED
            response.token_id, response.hmac = "", b""


class UseTokenCheck(Check):
    """RenewDelegationToken and ExpireDelegationToken: for the owner and the renewers, as brokers enforce it."""

    def apply(self, checked: CheckedRequest) -> Any:
        if checked.connection.taken_for in (None, str(own(checked))) or checked.authorizer.is_shadow:
            return None
        if is_anybody(checked):
            return checked.refuse(NOT_ALLOWED)
        answer = yield Ask(DescribeDelegationTokenRequest(owners=None), checked.version)
        if answer.error_code:
            return checked.refuse(answer.error_code)
        meant = [token for token in answer.tokens if bytes(token.hmac) == bytes(checked.request.hmac)]
        if not meant:
            return checked.refuse(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return None if own(checked) in owners(meant[0]) else checked.refuse(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


class DescribeTokensCheck(Check):
    """DescribeDelegationToken."""

    answers = True

    def apply(self, checked: CheckedRequest) -> Any:
        if is_anybody(checked):
            return checked.refuse(NOT_ALLOWED)
        checked.judging.append(self.filter)
        return None

    def filter(self, checked: CheckedRequest, response: Any) -> None:
        response.tokens = [token for token in response.tokens if not self.hides(checked, token)]

    def hides(self, checked: CheckedRequest, token: Any) -> bool:
        owner, *_ = close = owners(token)
        if own(checked) in close or checked.authorizer.may(Operation.DESCRIBE_TOKENS, ResourceType.USER, str(owner)):
            return False
        return checked.authorizer.hides(checked.api, Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)


def owners(token: Any) -> list[TokenPrincipal]:
    """The owner of a token, then its renewers."""
    return [TokenPrincipal(one.principal_type, one.principal_name) for one in (token, *token.renewers)]
