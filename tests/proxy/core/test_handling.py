"""Handlers in order: requests downwards, responses upwards."""

from typing import Any

from proxy.core.commands import ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward, Reply
from proxy.core.plugin import Plugin, on_request, on_response
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.proxy.core.frames import heartbeat, heartbeat_answer
from tests.proxy.core.playbook import Broker, Client, Playbook


class Marking(Plugin):
    """Adds its letter to the group on the way down, and its number to the error on the way up."""

    def __init__(self, letter: str, number: int) -> None:
        self.letter, self.number = letter, number

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        request.group_id += self.letter
        return Forward(request)

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.error_code = response.error_code * 10 + self.number
        return Forward(response)


class Answering(Plugin):
    """Answers with error 7."""

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return Reply(HeartbeatResponse(error_code=7))


class Looking(Plugin):
    """Changes nothing, and remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        self.seen.append(request.group_id)
        return None


def test_requests_go_down_and_responses_up() -> None:
    assert (
        Playbook(Marking("a", 1), Marking("b", 2), Marking("c", 3))
        >> Client(heartbeat(1, ""))
        << ToBroker(heartbeat(1, "abc"))
        >> Broker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1, 321))
    )


def test_each_handler_sees_what_the_one_before_made_of_it() -> None:
    looking = Looking()
    assert (
        Playbook(Marking("a", 1), looking, byte_by_byte=False) >> Client(heartbeat(1)) << ToBroker(heartbeat(1, "ga"))
    )
    assert looking.seen == ["ga"]


def test_a_reply_goes_up_through_those_that_the_request_had_passed() -> None:
    looking = Looking()
    assert (
        Playbook(Marking("a", 1), Marking("b", 2), Answering(), Marking("c", 3), looking)
        >> Client(heartbeat(1))
        << ToClient(heartbeat_answer(1, 721))
    )
    assert looking.seen == [], "what is answered goes no further down"
