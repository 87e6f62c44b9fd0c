"""How a frame leaves: with changed bytes, cut, in copies or in pieces; and responses that are late, lost or doubled."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.core.commands import Close, PauseBroker, PauseClient, ResumeBroker, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Alone, Ask, Cut, Decision, Disconnect, Drip, Forward, How, Raw, Reply, Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.filters import Filters
from proxy.core.leaving import Leaving
from proxy.core.link import Link
from proxy.core.outcome import By
from proxy.core.plugin import Plugin
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.testing import (
    BrokerCloses,
    ClientCloses,
    FromBroker,
    FromClient,
    Playbook,
    Time,
    connection,
    from_broker,
    from_client,
)
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, metadata, metadata_answer, produce
from tests.proxy.core.test_decisions import Down, Up
from tests.proxy.core.test_outcome import Reading, Watching

WAKE = Wake(0, 2)
DRIP = Drip(10, 2)
QUESTION = FindCoordinatorRequest(coordinator_keys=["g"])


def numbered(frame: bytes) -> bytes:
    """The same frame with another correlation id."""
    return frame[:4] + b"\x7f\0\0\1" + frame[8:]


def without_end(frame: bytes) -> bytes:
    return frame[:-1]


class Adding(Plugin):
    """Adds to the error of a Heartbeat response."""

    @on_response(HeartbeatResponse)
    def add(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.error_code += 1
        return Forward(response)


class Naming(Plugin):
    """Changes the group of a Heartbeat."""

    @on_request(HeartbeatRequest)
    def name(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        request.group_id += "!"
        return Forward(request)


def test_bytes_are_changed_first_then_copied_cut_and_sent_in_pieces() -> None:
    cut = Cut(7, "a fault")
    leaving = Leaving([b"ab", b"cd"], [Drip(3, 1), cut, Raw(lambda frame: frame + b"e"), Raw(bytes.upper)], copies=2)
    sent: list[bytes] = []
    steps = list(leaving.steps(lambda pieces: sent.extend(map(bytes, pieces))))
    assert steps == [Sleep(1)] * 3
    assert [*sent, bytes(leaving.data)] == [b"ABC", b"DEA", b"B"]
    assert leaving.cut is cut


def test_a_frame_is_changed_as_it_would_leave_whoever_changes_the_message_later() -> None:
    assert (
        Playbook(Adding(), Up(Raw(numbered)))
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(heartbeat(1) + metadata(2))
        >> FromBroker(heartbeat_answer(1, 6) + metadata_answer(2))
        << ToClient(numbered(heartbeat_answer(1, 7)) + metadata_answer(2))
    )
    assert (
        Playbook(Down(Raw(without_end)), Naming())
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(without_end(heartbeat(1, "g!")) + metadata(2))
    )


def test_what_is_cut_is_what_would_have_left() -> None:
    assert (
        Playbook(Adding(), Up(Cut(10, "a fault")))
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(heartbeat_answer(1, 0x100))
        << ToClient(heartbeat_answer(1, 0x101)[:10])
        << Close("a fault")
    )


def test_a_request_that_another_plugin_answers_does_not_leave_in_any_manner() -> None:
    reply = Reply(HeartbeatResponse(error_code=7))
    for manner in (Raw(numbered), Cut(3, "a fault"), DRIP):
        assert Playbook(Down(manner), Down(reply)) >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, 7))


@pytest.mark.parametrize("wrong", [lambda frame: 1 // 0, lambda frame: "text"])
def test_a_function_that_fails_fails_closed(wrong: Any) -> None:
    commands = from_client(Link(connection(), Filters([Down(Raw(wrong))])), heartbeat(1))
    assert [bytes(each.data) for each in commands if isinstance(each, ToClient)] == [heartbeat_answer(1, -1)]
    link = Link(connection(), Filters([Up(Raw(wrong))]))
    from_client(link, heartbeat(1))
    (close,) = [each for each in from_broker(link, heartbeat_answer(1)) if isinstance(each, Close)]
    assert str(close.reason).endswith("failed on a Heartbeat response")


# Piece by piece.


def test_a_request_drips() -> None:
    data = heartbeat(1)
    assert len(data) == 28
    assert (
        Playbook(Down(DRIP))
        >> FromClient(metadata(9) + data + metadata(2))
        << ToBroker(metadata(9))
        << WAKE
        << PauseClient()
        >> Time()
        << ToBroker(data[:10])
        << WAKE
        >> FromBroker(metadata_answer(9))
        << ToClient(metadata_answer(9))
        >> Time()
        << ToBroker(data[10:20])
        << WAKE
        >> Time()
        << ToBroker(data[20:] + metadata(2))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(1) + metadata_answer(2))
        << ToClient(heartbeat_answer(1) + metadata_answer(2))
    )


def test_an_answer_drips_while_the_client_is_read_on() -> None:
    data = heartbeat_answer(2)
    assert len(data) == 16
    assert (
        Playbook(Up(DRIP))
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + heartbeat(2) + metadata(3))
        >> FromBroker(metadata_answer(1) + data + metadata_answer(3))
        << ToClient(metadata_answer(1))
        << WAKE
        << PauseBroker()
        >> FromClient(metadata(4))
        << ToBroker(metadata(4))
        >> Time()
        << ToClient(data[:10])
        << WAKE
        >> FromClient(metadata(5))
        << ToBroker(metadata(5))
        >> Time()
        << ToClient(data[10:] + metadata_answer(3))
        << ResumeBroker()
    )


@pytest.mark.parametrize("older", [b"", metadata(1)])
def test_an_answer_of_ours_drips_when_it_is_its_turn(older: bytes) -> None:
    data = heartbeat_answer(2, 7)
    playbook = Playbook(Up(DRIP), Down(Reply(HeartbeatResponse(error_code=7))), byte_by_byte=False)
    playbook = playbook >> FromClient(older + heartbeat(2) + metadata(3)) << ToBroker(older + metadata(3))
    if older:
        playbook = playbook >> FromBroker(metadata_answer(1)) << ToClient(metadata_answer(1))
    assert (
        playbook
        << WAKE
        << PauseBroker()
        >> FromBroker(metadata_answer(3))
        >> Time()
        << ToClient(data[:10])
        << WAKE
        >> FromClient(heartbeat(4))
        >> Time()
        << ToClient(data[10:] + metadata_answer(3))
        << WAKE
        >> Time(-1)
        << ToClient(heartbeat_answer(4, 7)[:10])
        << WAKE
        >> ClientCloses()
        >> Time(-1)
        << ToClient(heartbeat_answer(4, 7)[10:])
        << ResumeBroker()
        << Close()
    )


def test_a_cut_may_come_slowly() -> None:
    class Both(Plugin):
        @on_response(HeartbeatResponse)
        def drip(self, ctx: Context, response: HeartbeatResponse) -> Decision:
            return DRIP

        @on_response(HeartbeatResponse)
        def cut(self, ctx: Context, response: HeartbeatResponse) -> Decision:
            return Cut(12, "a fault", How.RESET)

    data = heartbeat_answer(1)
    assert (
        Playbook(Both())
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(data)
        << WAKE
        << PauseBroker()
        >> Time()
        << ToClient(data[:10])
        << WAKE
        >> Time()
        << ToClient(data[10:12])
        << Close("a fault", reset=True)
    )


def test_questions_of_ours_do_not_cut_into_a_request_that_drips() -> None:
    class Asking(Plugin):
        def connected(self, connection: Connection) -> Steps:
            yield Alone()
            yield Ask(QUESTION, 4)
            connection.notes["answered"] = True
            yield Ask(QUESTION, 4)
            connection.gate.leave()
            return None

        @on_request(HeartbeatRequest)
        def wait(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            yield Sleep(5)
            return DRIP

    data, question = heartbeat(1), asking(QUESTION, 0, 4, None)
    answer = answering(FindCoordinatorResponse(coordinators=[]), 0, 4)
    link = Link(connection(), Filters([Asking()]))
    tokens: list[int] = []

    def sent(commands: Any) -> bytes:
        tokens.extend(command.token for command in commands if isinstance(command, Wake))
        return b"".join(bytes(command.data) for command in commands if isinstance(command, ToBroker))

    assert sent(link.begin()) == question
    link.connection.gate.leave()
    assert sent(from_client(link, data)) == b""
    assert sent(link.wake(tokens[0])) == b""
    assert sent(link.wake(tokens[1])) == data[:10]
    assert sent(from_broker(link, answer)) == b""  # the next request waits
    assert link.connection.notes["answered"]
    assert sent(link.wake(tokens[2])) == data[10:20]
    assert sent(link.wake(tokens[3])) == data[20:] + asking(QUESTION, 0, 4)
    assert [type(each) for each in from_broker(link, heartbeat_answer(1) + answer)] == [ToClient]


# Responses that are late, lost, replaced or doubled.


class Late(Plugin):
    """Holds back Heartbeat responses for a while."""

    @on_response(HeartbeatResponse)
    def hold(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        yield Sleep(2)
        return None


def test_a_late_answer_holds_up_no_request_and_no_answer_overtakes_it() -> None:
    assert (
        Playbook(Late())
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(heartbeat_answer(1))
        << WAKE
        << PauseBroker()
        >> FromClient(metadata(2) + heartbeat(3))
        << ToBroker(metadata(2) + heartbeat(3))
        >> FromBroker(metadata_answer(2))
        >> Time()
        << ToClient(heartbeat_answer(1) + metadata_answer(2))
        << ResumeBroker()
    )


def test_an_answer_may_be_lost_after_the_request_was_served() -> None:
    assert (
        Playbook(Up(Raw(b"")))
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(heartbeat(1) + metadata(2))
        >> FromBroker(heartbeat_answer(1) + metadata_answer(2))
        << ToClient(metadata_answer(2))
    )
    watching = Watching()
    link = Link(connection(), Filters([Up(Raw(b"")), watching]))
    from_client(link, heartbeat(1))
    from_broker(link, heartbeat_answer(1))
    ((_, outcome),) = watching.told
    assert (outcome.by, outcome.why, outcome.left) == (By.NOBODY, "Up.heartbeat", None)


def test_a_request_may_reach_the_broker_and_its_connection_end_before_the_answer() -> None:
    everything = Cut(1 << 30, "a fault", How.RESET)
    assert (
        Playbook(Down(everything))
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1) + heartbeat(2))
        << PauseClient()
        << Close("a fault", reset=True)
    )


def test_an_answer_may_be_replaced_after_the_request_was_served() -> None:
    assert (
        Playbook(Up(Forward(HeartbeatResponse(error_code=16))))
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1, 16))
    )


def test_a_request_may_be_sent_twice_and_slowly() -> None:
    class Doubling(Plugin):
        @on_request(HeartbeatRequest)
        def twice(self, ctx: Context, request: HeartbeatRequest) -> Decision:
            return Forward(request, copies=2)

    data = heartbeat(1) * 2
    assert (
        Playbook(Doubling(), Down(Drip(50, 2)))
        >> FromClient(heartbeat(1) + metadata(2))
        << WAKE
        << PauseClient()
        >> Time()
        << ToBroker(data[:50])
        << WAKE
        >> Time()
        << ToBroker(data[50:] + metadata(2))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(1, 25) + metadata_answer(2))
        << ToClient(heartbeat_answer(1) + metadata_answer(2))
    )


def test_an_observer_reads_an_answer_that_leaves_whole_however_slowly() -> None:
    reading = Reading()
    for plugins in ([Up(DRIP)], [Up(DRIP), Down(Reply(HeartbeatResponse(error_code=7)))], [Up(Raw(numbered))]):
        link = Link(connection(), Filters([reading, *plugins]))
        from_client(link, heartbeat(1))
        if len(plugins) == 1:
            from_broker(link, heartbeat_answer(1, 6))
    assert reading.answered == [6, 7]


@pytest.mark.parametrize(("came", "goes"), [(0, 1), (1, 0)])
def test_a_handler_cannot_change_whether_a_request_has_an_answer(came: int, goes: int) -> None:
    class Changing(Plugin):
        @on_request(ProduceRequest, fields="acks")
        def acks(self, ctx: Context, request: ProduceRequest) -> Decision:
            request.acks = goes
            return Forward(request)

    link = Link(connection(), Filters([Changing()]))
    commands = from_client(link, produce(1, acks=came))
    assert not any(isinstance(each, ToBroker) for each in commands)
    assert link.closed is (came == 0)
    assert any(isinstance(each, ToClient) for each in commands) is (came != 0)


def test_what_has_no_answer_cannot_be_asked() -> None:
    class Asking(Plugin):
        @on_request(HeartbeatRequest)
        def ask(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            try:
                yield Ask(ProduceRequest(acks=0, timeout_ms=1, topic_data=[]))
            except TypeError:
                return Reply(HeartbeatResponse(error_code=7))
            return None

    assert Playbook(Asking()) >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, 7))


# Black holes.


def test_a_black_hole_answers_nothing_and_takes_everything_until_the_client_leaves() -> None:
    hole = Disconnect("a black hole", How.BLACK_HOLE)
    assert (
        Playbook(Down(hole), byte_by_byte=False)
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1))
        << PauseClient()
        << ResumeClient()
        >> FromBroker(metadata_answer(1))
        >> FromClient(metadata(4) + b"GET / HTTP/1.1")
        >> BrokerCloses()
        >> FromClient(metadata(5)[:7])
        >> ClientCloses()
        << Close("a black hole")
    )
    assert (
        Playbook(Up(hole), byte_by_byte=False)
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(heartbeat(1) + metadata(2))
        >> FromBroker(heartbeat_answer(1) + metadata_answer(2))
        >> FromClient(metadata(3))
        >> ClientCloses()
        << Close("a black hole")
    )


def test_a_black_hole_may_begin_with_the_connection_or_after_a_while() -> None:
    class Beginning(Plugin):
        def connected(self, connection: Connection) -> Steps:
            yield Sleep(2)
            return Disconnect("a black hole", How.BLACK_HOLE)

    assert (
        Playbook(Beginning(), Late())
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(heartbeat_answer(1))
        << WAKE
        << PauseBroker()
        >> Time(0)
        << ResumeBroker()
        >> Time(1)  # no request waits for it any more
        >> FromBroker(metadata_answer(9))
        >> ClientCloses()
        << Close("a black hole")
    )


def test_a_black_hole_holds_nothing_and_ends_every_request() -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Down(Disconnect("a black hole", How.BLACK_HOLE))]))
    from_client(link, metadata(1) + heartbeat(2) + metadata(3)[:9])
    assert watching.by == [(2, By.NOBODY), (1, By.NOBODY)]
    assert link.held == 0
    assert link.requests.splitter.lacking == 0
    assert link.requests.splitter.begun
    assert not link.closed
    link.release()
    assert len(watching.by) == 2
