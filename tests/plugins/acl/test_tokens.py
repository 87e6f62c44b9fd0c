"""Delegation tokens: who may create them for whom, and who may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.tokens import TokenPrincipal, principal
from proxy.core.events import HandlerFailed
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from proxy.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from proxy.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from proxy.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.talk import Rules, Talk
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka

Making = Callable[..., Rules]
REFUSED = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
FOR_BOB = "acls: [{allow: User:alice, to: [CreateTokens, DescribeTokens], users: User:bob}]"


def create(owner: str | None = None, kind: str = "User") -> CreateDelegationTokenRequest:
    return CreateDelegationTokenRequest(
        owner_principal_type=None if owner is None else kind,
        owner_principal_name=owner,
        renewers=[],
        max_lifetime_ms=-1,
    )


def made(owner: str) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=0,
        principal_type="User",
        principal_name=owner,
        token_requester_principal_type="User",
        token_requester_principal_name="alice",
        issue_timestamp_ms=1,
        expiry_timestamp_ms=2,
        max_timestamp_ms=3,
        token_id="id",
        hmac=b"secret",
        throttle_time_ms=0,
    )


@pytest.mark.parametrize(
    ("own", "owner", "fine"),
    [
        ("acls: []", None, True),
        ("acls: []", "alice", True),
        ("acls: []", "bob", False),
        (FOR_BOB, "bob", True),
        (FOR_BOB, "carol", False),
    ],
)
def test_a_token_for_another_needs_a_right(rules: Making, own: str, owner: str | None, fine: bool) -> None:
    talk = Talk(rules(own).acl)
    answer = talk.ask(create(owner), 3)
    assert len(talk.to_broker) == fine
    if fine:
        answer = talk.answer(made(owner or "alice"))
    assert (answer.error_code, answer.hmac) == ((0, b"secret") if fine else (REFUSED, b""))


def test_an_owner_without_a_type_is_refused_as_any_other_user(rules: Making) -> None:
    talk = Talk(rules("acls: []").acl)
    request = create("bob")
    request.owner_principal_type = None
    answer = talk.ask(request, 3)
    assert (answer.error_code, answer.principal_type, answer.principal_name) == (REFUSED, "", "bob")
    assert not [event for event in talk.events if isinstance(event, HandlerFailed)]


@pytest.mark.parametrize(
    ("own", "fine"), [("acls: []", False), ("acls: [{allow: 'User:*', to: CreateTokens, users: 'User:al:ice'}]", True)]
)
def test_a_client_is_no_user_of_another_type_whose_text_is_the_same(rules: Making, own: str, fine: bool) -> None:
    """Brokers compare type and name: `User:al` and `ice` are not `User` and `al:ice`."""
    talk = Talk(rules(own).acl, "User:al:ice")
    answer = talk.ask(create("ice", "User:al"), 3)
    assert len(talk.to_broker) == fine
    if not fine:
        told = answer.error_code, answer.principal_type, answer.principal_name
        assert told == (REFUSED, "User:al", "ice")
        requester = answer.token_requester_principal_type, answer.token_requester_principal_name
        assert requester == ("User", "al:ice")
    talk.ask(create("al:ice"), 3)
    assert len(talk.to_broker) == fine + 1


def test_principals_are_the_same_where_kafka_says_so() -> None:
    """Compared with KafkaPrincipal, and with how Kafka reads one that is text."""
    parts = [
        (kind, name) for kind in ("User", "User:al", "user", "Group", "") for name in ("al:ice", "ice", ":", "", "*")
    ]
    with Kafka(NEWEST) as kafka:
        theirs = [kafka.common.security.auth.KafkaPrincipal(*part) for part in parts]
        for part, one in zip(parts, theirs, strict=True):
            assert str(TokenPrincipal(*part)) == str(one)
            same = [TokenPrincipal(*part) == TokenPrincipal(*other) for other in parts]
            assert same == [one == other for other in theirs]
        for text in ("User:alice", "User:al:ice", "Group:a:", "User::"):
            read = kafka.common.utils.internals.SecurityUtils.parseKafkaPrincipal(text)
            assert principal(text) == (str(read.getPrincipalType()), str(read.getName()))


@pytest.mark.parametrize("version", range(4))
def test_a_token_that_turns_out_to_be_anothers_is_not_handed_out(rules: Making, version: int) -> None:
    """The broker took the proxy for the client, and the proxy may do everything."""
    talk = Talk(rules("acls: []").acl)
    talk.ask(create(), version)
    answer = talk.answer(made("doorkeeper"))
    assert (answer.error_code, answer.token_id, answer.hmac) == (REFUSED, "", b"")


@pytest.mark.parametrize(
    ("own", "taken_for", "owner", "error"),
    [
        ("acls: []", "User:doorkeeper", None, REFUSED),
        ("acls: []", "", None, REFUSED),
        ("acls: []", "User:alice", None, None),
        ("acls: []", "User:doorkeeper", "alice", None),
        ("acls: []", "User:doorkeeper", "bob", REFUSED),
        (FOR_BOB, "", "bob", None),
        ("acls: [{allow: User:alice, to: CreateTokens, users: User:doorkeeper}]", "User:doorkeeper", None, None),
    ],
)
def test_where_the_broker_takes_a_client_for_another_no_token_is_made_for_that_one(
    rules: Making, own: str, taken_for: str, owner: str | None, error: int | None
) -> None:
    talk = Talk(rules(own).acl)
    talk.connection.taken_for = taken_for
    answer = talk.ask(create(owner), 3)
    assert len(talk.to_broker) == (error is None)
    if error is not None:
        told = answer.error_code, answer.principal_name, answer.token_requester_principal_name, answer.hmac
        assert told == (error, owner or "alice", "alice", b"")


def use(talk: Talk, cls: type[RenewDelegationTokenRequest | ExpireDelegationTokenRequest], hmac: bytes) -> Any:
    period = {"renew_period_ms": 1} if cls is RenewDelegationTokenRequest else {"expiry_time_period_ms": 1}
    return talk.ask(cls(hmac=hmac, **period), 2)


@pytest.mark.parametrize("cls", [RenewDelegationTokenRequest, ExpireDelegationTokenRequest])
@pytest.mark.parametrize(
    ("hmac", "owners", "error"),
    [
        (b"secret", ("alice",), None),
        (b"secret", ("bob", "alice"), None),
        (b"secret", ("bob", "carol"), ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        (b"other", ("alice",), ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
    ],
)
def test_whose_a_token_is_is_asked_where_the_broker_cannot_tell(
    rules: Making, cls: Any, hmac: bytes, owners: tuple[str, ...], error: int | None
) -> None:
    def broker(request: Request, version: int) -> Response | None:
        if not isinstance(request, DescribeDelegationTokenRequest):
            return None
        return DescribeDelegationTokenResponse(error_code=0, tokens=[token(*owners)], throttle_time_ms=0)

    talk = Talk(rules("acls: []").acl, "User:alice", broker)
    talk.connection.taken_for = "User:doorkeeper"
    answer = use(talk, cls, hmac)
    assert any(isinstance(each, cls) for each in talk.to_broker) == (error is None)
    assert error is None or answer.error_code == error


@pytest.mark.parametrize("taken_for", [None, "User:alice"])
def test_a_broker_that_knows_the_client_sees_itself_whose_a_token_is(rules: Making, taken_for: str | None) -> None:
    talk = Talk(rules("acls: []").acl)
    talk.connection.taken_for = taken_for
    use(talk, RenewDelegationTokenRequest, b"any")
    assert [type(each) for each in talk.to_broker] == [RenewDelegationTokenRequest]


def test_whom_nobody_asked_who_it_is_has_nothing_to_do_with_tokens(rules: Making) -> None:
    talk = Talk(rules("super_users: [User:ANONYMOUS]").acl)
    talk.connection.principal = talk.connection.mechanism = None
    talk.connection.taken_for = "User:doorkeeper"
    told = [
        talk.ask(create("ANONYMOUS"), 3),
        use(talk, RenewDelegationTokenRequest, b"secret"),
        use(talk, ExpireDelegationTokenRequest, b"secret"),
        talk.ask(DescribeDelegationTokenRequest(owners=None), 3),
    ]
    assert {answer.error_code for answer in told} == {ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED}
    assert talk.to_broker == []


def test_for_whom_only_the_broker_knows_no_token_is_made(rules: Making) -> None:
    """The broker would make it, and nobody would get it."""
    talk = Talk(rules("acls: []").acl, None)
    assert talk.ask(create(), 3).error_code == REFUSED
    assert talk.to_broker == []


def token(owner: str, *renewers: str) -> Any:
    one = DescribeDelegationTokenResponse.Token
    return one(
        principal_type="User",
        principal_name=owner,
        issue_timestamp=1,
        expiry_timestamp=2,
        max_timestamp=3,
        token_id=f"of-{owner}",
        hmac=b"secret",
        renewers=[one.Renewer(principal_type="User", principal_name=name) for name in renewers],
    )


def test_a_token_of_another_type_of_user_is_not_shown(rules: Making) -> None:
    talk = Talk(rules("acls: []").acl, "User:al:ice")
    talk.ask(DescribeDelegationTokenRequest(owners=None), 3)
    theirs, own = token("ice"), token("al:ice")
    theirs.principal_type = "User:al"
    answer = talk.answer(DescribeDelegationTokenResponse(error_code=0, tokens=[theirs, own], throttle_time_ms=0))
    assert [each.token_id for each in answer.tokens] == ["of-al:ice"]


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize(
    ("own", "seen"),
    [
        ("acls: []", ["of-alice", "of-dave"]),
        (FOR_BOB, ["of-alice", "of-bob", "of-dave"]),
        ("acls: [{allow: User:alice, to: Describe, delegation_tokens: of-carol}]", ["of-alice", "of-carol", "of-dave"]),
    ],
)
def test_a_token_is_shown_to_its_owner_its_renewers_and_who_may_see_it(
    rules: Making, version: int, own: str, seen: list[str]
) -> None:
    talk = Talk(rules(own).acl)
    talk.ask(DescribeDelegationTokenRequest(owners=None), version)
    tokens = [token("alice"), token("bob"), token("carol"), token("dave", "alice")]
    answer = talk.answer(DescribeDelegationTokenResponse(error_code=0, tokens=tokens, throttle_time_ms=0))
    assert [each.token_id for each in answer.tokens] == seen
