"""A client and a broker that exchange messages."""

from __future__ import annotations

import pytest

from proxy.plugin import (
    Context,
    Decision,
    Disconnect,
    Forward,
    HeartbeatRequest,
    HeartbeatResponse,
    Plugin,
    Reply,
    Sleep,
    Steps,
    on_request,
    on_response,
    turns,
)
from proxy.testing import MessageExchange


def heartbeat(group: str) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, generation_id=1, member_id="m")


class Doing(Plugin):
    """Handles a Heartbeat as its group id says."""

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision | Steps:
        match request.group_id:
            case "change":
                return Forward(heartbeat("changed"))
            case "reply":
                return Reply(HeartbeatResponse(error_code=27))
            case "end":
                return Disconnect("enough")
            case "sleep":
                return self.sleep()
        return None

    def sleep(self) -> Steps:
        yield Sleep(1)
        return None

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        return Forward(HeartbeatResponse(error_code=response.error_code + 1))


def test_a_request_is_seen_as_the_broker_gets_it_and_its_response_as_the_client_gets_it() -> None:
    exchange = MessageExchange(Doing())
    assert exchange.ask(heartbeat("change"), 4, number=5) == heartbeat("changed")
    assert exchange.answer(HeartbeatResponse(error_code=1), 4, number=5) == HeartbeatResponse(error_code=2)


def test_an_answer_of_a_plugin_and_the_reason_of_an_end_are_seen_at_once() -> None:
    exchange = MessageExchange(Doing())
    assert exchange.ask(heartbeat("reply"), 4) == HeartbeatResponse(error_code=27)
    assert exchange.ask(heartbeat("end"), 4) == "enough"


def test_turns_of_others_are_over_at_once_and_any_other_wait_is_an_error() -> None:
    class Slow(Plugin):
        @on_request(HeartbeatRequest)
        def down(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            for _ in turns(range(3)):
                yield None
            return None

    exchange = MessageExchange(Slow())
    assert exchange.ask(heartbeat("g"), 4) == heartbeat("g")
    assert exchange.turns == 3
    with pytest.raises(AssertionError, match="nothing left"):
        MessageExchange(Doing()).ask(heartbeat("sleep"), 4)
