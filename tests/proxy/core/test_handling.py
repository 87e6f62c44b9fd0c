"""Handlers in order: requests downwards, responses upwards."""

from typing import Any

import pytest

from proxy.core.arrival import Arrival
from proxy.core.commands import Emit, ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decisions import Decision, Disconnect, Forward, Reply, Sleep, Step, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.events import HandlerFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.steps import HandlerError, arrival_steps
from proxy.core.wish import Handler, Wish
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.schema import Request
from proxy.testing import FromBroker, FromClient, Playbook, connection, from_broker, from_client
from tests.proxy.core.frames import heartbeat, heartbeat_answer


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
    """Changes nothing, and remembers the messages that it saw."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        self.seen.append(request.group_id)
        return None


class Unwritable(Plugin):
    """Decides on a message that cannot be written."""

    def __init__(self, down: Decision = None, *, up: bool = False) -> None:
        self.decision, self.spoils_answers = down, up

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return self.decision

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        if not self.spoils_answers:
            return None
        response.error_code = TOO_LARGE
        return Forward(response)


TOO_LARGE = 1 << 20  # for an int16
UNWRITABLE = HeartbeatResponse(error_code=TOO_LARGE)


@pytest.mark.parametrize(
    ("plugins", "handler"),
    [
        (
            [Unwritable(Forward(HeartbeatRequest(group_id="g", generation_id=1 << 40, member_id="m")))],
            "Unwritable.down",
        ),
        (
            [Unwritable(Forward(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), version=99))],
            "Unwritable.down",
        ),
        ([Unwritable(Reply(UNWRITABLE))], "Unwritable.down"),
        ([Unwritable(up=True), Answering()], "Unwritable.up"),
        ([Marking("a", 1), Unwritable(up=True)], "Marking.up"),  # the last that sent the answer on
        ([Unwritable(up=True)], "Unwritable.up"),
    ],
)
def test_a_message_that_cannot_be_written_is_told_with_the_handler_that_decided_on_it(
    plugins: list[Plugin], handler: str
) -> None:
    link = Link(connection(), Filters(plugins))
    commands = from_client(link, heartbeat(1))
    if any(isinstance(command, ToBroker) for command in commands):
        commands += from_broker(link, heartbeat_answer(1))
    (failed,) = [command.event for command in commands if isinstance(command, Emit)]
    assert isinstance(failed, HandlerFailed)
    assert failed.handler == handler


def test_requests_go_down_and_responses_up() -> None:
    assert (
        Playbook(Marking("a", 1), Marking("b", 2), Marking("c", 3))
        >> FromClient(heartbeat(1, ""))
        << ToBroker(heartbeat(1, "abc"))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1, 321))
    )


def test_each_handler_sees_what_the_one_before_made_of_it() -> None:
    looking = Looking()
    assert (
        Playbook(Marking("a", 1), looking, byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1, "ga"))
    )
    assert looking.seen == ["ga"]


def test_a_reply_goes_up_through_those_that_the_request_had_passed() -> None:
    looking = Looking()
    assert (
        Playbook(Marking("a", 1), Marking("b", 2), Answering(), Marking("c", 3), looking)
        >> FromClient(heartbeat(1))
        << ToClient(heartbeat_answer(1, 721))
    )
    assert looking.seen == [], "what is answered goes no further down"


class Guarding(Plugin):
    """Makes this decision on every accepted client, and notes that it was called."""

    def __init__(self, says: Any = None) -> None:
        self.says = says
        self.asked: list[Arrival] = []

    def accepted(self, arrival: Arrival) -> Steps | Decision:
        self.asked.append(arrival)
        return self._waits() if self.says is WAITS else self.says

    def _waits(self) -> Steps:
        yield Sleep(1)
        return REFUSAL


ARRIVAL = Arrival(("192.0.2.1", 50000), "clients", "main", 2)
REFUSAL = Disconnect("not today")
WAITS = object()


def asked(*plugins: Plugin) -> tuple[list[Step], Disconnect | None]:
    """The steps of the handlers, and their decision."""
    steps, taken = arrival_steps(Filters(plugins).accepted, ARRIVAL), []
    while True:
        try:
            taken.append(next(steps))
        except StopIteration as end:
            return taken, end.value


def test_the_first_plugin_that_refuses_a_client_decides_for_all() -> None:
    first, last = Guarding(), Guarding(REFUSAL)
    assert asked(first, Looking(), last) == ([], REFUSAL)
    assert first.asked == last.asked == [ARRIVAL]
    assert asked(Guarding(REFUSAL), never := Guarding()) == ([], REFUSAL)
    assert not never.asked
    assert asked(Guarding(), Guarding()) == ([], None)


def test_a_plugin_may_wait_before_it_lets_a_client_come() -> None:
    assert asked(Guarding(WAITS), Guarding()) == ([Sleep(1)], REFUSAL)


def test_what_is_no_decision_about_a_client_names_the_plugin() -> None:
    with pytest.raises(HandlerError, match=r"Guarding\.accepted"):
        asked(Guarding(Reply(HeartbeatResponse(error_code=7))))


def test_a_handler_that_fails_in_another_file_is_found_by_its_own_line() -> None:
    def misspelt(ctx: object, request: Any) -> Decision:
        decision: Decision = request.grup_id
        return decision

    with pytest.raises(AttributeError, match="no field 'grup_id'") as error:
        misspelt(None, HeartbeatRequest(group_id="", generation_id=0, member_id=""))
    failed = HandlerError(Handler(misspelt, Wish(Request, HeartbeatRequest, None), 0), error.value)
    assert failed.at.startswith(f"{__file__}:{misspelt.__code__.co_firstlineno + 1} > ")
