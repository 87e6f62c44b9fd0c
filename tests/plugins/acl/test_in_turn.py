"""Requests behind one that may wait at the broker are decided when it is their turn there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward
from proxy.core.decorators import on_request
from proxy.core.plugin import Plugin
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import build
from tests.plugins.acl.talk import Rules, Talk
from tests.plugins.acl.test_fetch import fetch, records
from tests.plugins.acl.test_produce import produce

OWN = "acls: [{allow: User:alice, to: [Read, Write], topics: mine, groups: mine}]"
BEAT = HeartbeatRequest(group_id="mine", generation_id=1, member_id="m")
JOIN = JoinGroupRequest(
    group_id="mine", session_timeout_ms=9, rebalance_timeout_ms=9, member_id="", protocol_type="consumer", protocols=[]
)
JOINED = JoinGroupResponse(error_code=0, generation_id=1, protocol_name="", leader="m", member_id="m", members=[])
Making = Callable[..., Rules]


class Twice(Plugin):
    """Sends every Fetch twice."""

    @on_request(FetchRequest)
    def fetch(self, ctx: Context, request: FetchRequest) -> Decision:
        return Forward(request, copies=2)


@pytest.mark.parametrize(
    ("first", "version", "answer"),
    [(fetch(4, "mine"), 4, records(4, "mine")), (fetch(12, "mine"), 12, records(12, "mine")), (JOIN, 5, JOINED)],
)
@pytest.mark.parametrize("after", [OWN, "acls: []"])
def test_what_comes_behind_a_request_that_may_wait_is_decided_when_that_is_answered(
    rules: Making, first: Request, version: int, answer: Response, after: str
) -> None:
    own = rules(OWN)
    talk = Talk(own.acl)
    talk.ask(first, version)
    talk.ask(BEAT, 0)
    assert [type(request) for request in talk.to_broker] == [type(first)]
    own.become(after)
    talk.answer(answer)
    refused = [it.error_code for it in talk.rest()]
    if after == OWN:
        assert [type(request) for request in talk.to_broker] == [type(first), HeartbeatRequest]
        assert refused == []
    else:
        assert [type(request) for request in talk.to_broker] == [type(first)]
        assert refused == [ErrorCode.GROUP_AUTHORIZATION_FAILED]


def test_several_wait_and_go_on_one_after_the_other(rules: Making) -> None:
    talk = Talk(rules(OWN).acl)
    sent: list[Any] = [fetch(4, "mine"), BEAT, fetch(4, "mine"), BEAT]
    for request in sent:
        talk.ask(request, 4 if isinstance(request, FetchRequest) else 0)
    assert len(talk.to_broker) == 1
    talk.answer(records(4, "mine"))
    assert [type(request) for request in talk.to_broker] == list(map(type, sent[:3]))


def test_behind_other_requests_nothing_waits(rules: Making) -> None:
    talk = Talk(rules(OWN).acl)
    for _ in range(2):
        talk.ask(produce(8, "mine"), 8)
        talk.ask(BEAT, 0)
    assert len(talk.to_broker) == 4


def test_a_copy_of_a_fetch_may_wait_like_the_fetch_itself(rules: Making) -> None:
    talk = Talk(rules(OWN).acl, "User:alice", None, build(Twice))
    talk.ask(fetch(4, "mine"), 4)
    talk.ask(BEAT, 0)
    talk.answer(records(4, "mine"))
    assert [type(request) for request in talk.to_broker] == [FetchRequest] * 2
    talk.answer(records(4, "mine"))
    assert [type(request) for request in talk.to_broker] == [FetchRequest] * 2 + [HeartbeatRequest]
