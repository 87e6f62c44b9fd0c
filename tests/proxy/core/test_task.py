"""Runs: handlers that wait, and how they end."""

from typing import Any

import pytest

from proxy.core.commands import Close, Emit, PauseClient, Perform, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Context
from proxy.core.decisions import Ask, Call, Reply, Sleep, Steps
from proxy.core.decorators import on_request
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.pending_ask import newest_common
from proxy.core.plugin import Plugin
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.problem import ProtocolError
from proxy.testing import FromBroker, FromClient, Playbook, Time, connection, from_client
from tests.proxy.core.frames import asking, heartbeat, heartbeat_answer

ASK = Ask(MetadataRequest(topics=[]))


class Stepping(Plugin):
    """Takes the steps of a test, and answers with their number."""

    def __init__(self, *steps: Any) -> None:
        self.steps = steps
        self.caught: list[Exception] = []
        self.dropped = False

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        taken = 0
        try:
            for step in self.steps:
                try:
                    yield step
                except ProtocolError as error:
                    self.caught.append(error)
                taken += 1
        except GeneratorExit:
            self.dropped = True
            raise
        return Reply(HeartbeatResponse(error_code=taken))


def test_steps_are_taken_one_after_the_other() -> None:
    assert (
        Playbook(Stepping(Sleep(1), Sleep(2)))
        >> FromClient(heartbeat(1))
        << Wake(0, 1)
        << PauseClient()
        >> Time()
        << Wake(0, 2)
        >> Time()
        << ToClient(heartbeat_answer(1, 2))
        << ResumeClient()
    )


def test_a_sleep_that_is_over_twice_wakes_once() -> None:
    link = Link(connection(), Filters([Stepping(Sleep(1), Sleep(2))]))
    wake = next(command for command in from_client(link, heartbeat(1)) if isinstance(command, Wake))
    assert link.wake(wake.token)
    assert not link.wake(wake.token)


def calling(*steps: Call) -> tuple[Link, Stepping, Perform]:
    """A link that waits for the first of these steps."""
    plugin = Stepping(*steps)
    link = Link(connection(), Filters([plugin]))
    (perform,) = (each for each in from_client(link, heartbeat(1)) if isinstance(each, Perform))
    return link, plugin, perform


def test_a_call_is_performed_once_and_goes_on_with_what_it_gave() -> None:
    link, _, perform = calling(Call(lambda: 7))
    assert perform.work() == 7
    assert ToClient(heartbeat_answer(1, 1)) in link.performed(perform.token, 7)
    assert not link.performed(perform.token, 7)


def test_what_a_call_raised_is_thrown_into_its_handler() -> None:
    link, plugin, perform = calling(Call(int), Call(int))
    error = ProtocolError("no")
    (second,) = link.performed(perform.token, None, error)
    assert isinstance(second, Perform)
    assert plugin.caught == [error]


def test_a_link_that_closes_drops_a_handler_that_waits_for_a_call() -> None:
    link, plugin, perform = calling(Call(int))
    link.broker_closed()
    assert plugin.dropped
    assert not link.performed(perform.token, 0)


def test_an_answer_that_cannot_be_read_is_thrown_into_the_handler_that_asked() -> None:
    plugin = Stepping(Ask(MetadataRequest(topics=[]), version=4))
    question = asking(MetadataRequest(topics=[]), 0, 4)
    assert (
        Playbook(plugin, byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(question)
        << PauseClient()
        >> FromBroker(b"\0\0\0\x06\0\0\0\0\xff\xff")
        << ToClient(heartbeat_answer(1, 1))
        << ResumeClient()
    )
    assert len(plugin.caught) == 1


def test_a_question_that_cannot_be_written_is_thrown_into_the_handler_that_asked() -> None:
    plugin = Stepping(Ask(MetadataRequest(topics=[]), version=99))
    assert Playbook(plugin, byte_by_byte=False) >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, 1))
    assert len(plugin.caught) == 1


def test_what_is_no_step_refuses_the_request() -> None:
    link = Link(connection(), Filters([Stepping("wait")]))
    answer, emit = from_client(link, heartbeat(1))
    assert isinstance(answer, ToClient | Emit)
    assert isinstance(emit, ToClient | Emit)
    assert link.counters.failed_handlers == 1


@pytest.mark.parametrize("step", [Sleep(1), ASK])
def test_a_handler_that_waits_is_dropped_when_the_link_closes(step: Any) -> None:
    plugin = Stepping(step)
    link = Link(connection(), Filters([plugin]))
    from_client(link, heartbeat(1))
    (close,) = link.broker_closed()
    assert isinstance(close, Close)
    assert plugin.dropped


def test_a_question_is_asked_in_the_newest_version_that_both_know() -> None:
    newest = MetadataRequest.api.newest
    assert newest_common(ASK, None) == newest
    assert newest_common(ASK, (0, 5)) == 5
    assert newest_common(ASK, (0, newest + 3)) == newest
    assert newest_common(Ask(ASK.request, 2), (0, 5)) == 2
    with pytest.raises(ProtocolError, match="speaks only versions from"):
        newest_common(ASK, (newest + 1, newest + 3))
