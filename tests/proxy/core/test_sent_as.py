"""A request that the broker gets in another version than the client's, and its response on the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.commands import Close, ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decisions import Cut, Decision, Forward, Raw
from proxy.core.decorators import observe, on_outcome, on_request, on_response
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.protocol.api import APIS
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.schema import Request, Response, blank
from proxy.testing import (
    FromBroker,
    FromClient,
    Playbook,
    connection,
    from_broker,
    from_client,
)
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, metadata, metadata_answer

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


class As(Plugin):
    """Has Heartbeats, Produce and ApiVersions sent in this version."""

    def __init__(self, version: int, change: Callable[[Any], None] = lambda request: None, **more: Any) -> None:
        self.version, self.change, self.more = version, change, more

    @on_request(HeartbeatRequest, fields="group_id")
    @on_request(ProduceRequest, fields="acks")
    @on_request(ApiVersionsRequest)
    @on_request(FindCoordinatorRequest)
    def forward(self, ctx: Context, request: Request) -> Decision:
        self.change(request)
        return Forward(request, version=self.version, **self.more)


class Reading(Plugin):
    """Notes the Heartbeats that it reads, and the outcomes of all requests."""

    def __init__(self, decision: Decision = None) -> None:
        self.decision = decision
        self.seen: list[Any] = []
        self.shown: list[Any] = []
        self.told: list[Outcome] = []

    @on_response(HeartbeatResponse, fields="error_code")
    def answer(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        self.seen.append((ctx.version, response.error_code))
        response.error_code = 99  # this alone changes nothing without a decision
        return self.decision

    @observe(HeartbeatResponse, fields="error_code")
    def leaves(self, ctx: Context, response: HeartbeatResponse) -> None:
        self.shown.append(response.error_code)

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append(outcome)


def beat(number: int, version: int) -> bytes:
    return asking(BEAT, number, version)


def beaten(number: int, version: int, error: int = 0, throttled: int = 0) -> bytes:
    return answering(HeartbeatResponse(error_code=error, throttle_time_ms=throttled), number, version)


@pytest.mark.parametrize(("ours", "theirs"), [(4, 0), (0, 4), (4, 3), (3, 4), (2, 1)])
def test_a_request_and_its_answer_change_their_version_and_their_headers(ours: int, theirs: int) -> None:
    assert (
        Playbook(As(theirs))
        >> FromClient(metadata(1) + beat(2, ours) + metadata(3))
        << ToBroker(metadata(1) + beat(2, theirs) + metadata(3))
        >> FromBroker(metadata_answer(1) + beaten(2, theirs, 27) + metadata_answer(3))
        << ToClient(metadata_answer(1) + beaten(2, ours, 27) + metadata_answer(3))
    )


def test_what_only_the_brokers_version_says_is_left_out_of_an_answer() -> None:
    assert (
        Playbook(As(4))
        >> FromClient(beat(1, 0))
        << ToBroker(beat(1, 4))
        >> FromBroker(beaten(1, 4, throttled=500))
        << ToClient(beaten(1, 0))
    )


def test_the_clients_own_version_is_no_other() -> None:
    assert (
        Playbook(As(4))
        >> FromClient(beat(1, 4))
        << ToBroker(beat(1, 4))
        >> FromBroker(b"\0\0\0\5\0\0\0\1\0")  # no plugin reads it
        << ToClient(b"\0\0\0\5\0\0\0\1\0")
    )


def test_handlers_see_the_clients_version_and_observers_what_leaves() -> None:
    first, last = Reading(), Reading()
    assert (
        Playbook(first, As(0), last, byte_by_byte=False)
        >> FromClient(beat(1, 4))
        << ToBroker(beat(1, 0))
        >> FromBroker(beaten(1, 0, 27))
        << ToClient(beaten(1, 4, 27))
    )
    assert last.seen == [(4, 27)]
    assert first.shown == last.shown == [27]
    (outcome,) = first.told
    assert (outcome.by, outcome.request_bytes) == (By.BROKER, len(beat(1, 4)))
    assert outcome.response_bytes == len(beaten(1, 4, 27))


def test_a_changed_answer_is_written_in_the_clients_version() -> None:
    reading = Reading(Forward(HeartbeatResponse(error_code=25)))
    assert (
        Playbook(reading, As(0))
        >> FromClient(beat(1, 4))
        << ToBroker(beat(1, 0))
        >> FromBroker(beaten(1, 0, 27))
        << ToClient(beaten(1, 4, 25))
    )


def test_an_answer_is_cut_and_replaced_as_it_would_leave() -> None:
    whole = beaten(1, 4, 27)
    for decision, left, close in (
        (Cut(9, "a fault"), whole[:9], [Close("a fault")]),
        (Raw(lambda frame: frame + b"!"), whole + b"!", []),
    ):
        playbook = Playbook(Reading(decision), As(0)) >> FromClient(beat(1, 4)) << ToBroker(beat(1, 0))
        playbook = playbook >> FromBroker(beaten(1, 0, 27)) << ToClient(left)
        for command in close:
            playbook = playbook << command
        assert playbook


def produce(number: int, version: int, acks: int = 1, **topic: Any) -> bytes:
    partition = ProduceRequest.Topic.Partition(index=0, records=b"r")
    topics = [ProduceRequest.Topic(partition_data=[partition], **topic)]
    return asking(ProduceRequest(acks=acks, timeout_ms=1, topic_data=topics), number, version)


def produced(number: int, version: int, **topic: Any) -> bytes:
    answer = ProduceResponse.Topic.Partition(index=0, error_code=0, base_offset=7)
    return answering(
        ProduceResponse(responses=[ProduceResponse.Topic(partition_responses=[answer], **topic)]), number, version
    )


def test_the_fields_that_no_handler_read_are_sent_too() -> None:
    assert (
        Playbook(As(3))
        >> FromClient(produce(1, 9, name="orders"))
        << ToBroker(produce(1, 3, name="orders"))
        >> FromBroker(produced(1, 3, name="orders"))
        << ToClient(produced(1, 9, name="orders"))
    )


def test_acks_0_has_no_answer_in_any_version() -> None:
    assert (
        Playbook(As(3, copies=2))
        >> FromClient(produce(1, 9, acks=0, name="orders") + metadata(2))
        << ToBroker(produce(1, 3, acks=0, name="orders") * 2 + metadata(2))
        >> FromBroker(metadata_answer(2))
        << ToClient(metadata_answer(2))
    )


def refused(number: int, version: int) -> bytes:
    error = ProduceResponse.Topic.Partition(
        index=0, error_code=ErrorCode.UNKNOWN_SERVER_ERROR, base_offset=-1, log_start_offset=-1
    )
    topic = ProduceResponse.Topic(topic_id=b"i" * 16, partition_responses=[error])
    return answering(ProduceResponse(responses=[topic]), number, version)


@pytest.mark.parametrize("version", [12, 99])
def test_a_request_that_the_version_cannot_say_is_refused(version: int) -> None:
    reading = Reading()
    link = Link(connection(), Filters([reading, As(version)]))
    commands = from_client(link, produce(1, 13, topic_id=b"i" * 16))
    sent = [bytes(command.data) for command in commands if isinstance(command, ToBroker | ToClient)]
    assert sent == [refused(1, 13)]
    ((outcome),) = reading.told
    assert (outcome.by, outcome.why) == (By.PROXY, "As.forward failed on a Produce request")


def test_an_answer_that_the_clients_version_cannot_say_is_withheld() -> None:
    def downgrade(request: FindCoordinatorRequest) -> None:
        request.coordinator_keys, request.key = [request.key], ""

    coordinator = FindCoordinatorResponse.Coordinator(
        key="g", node_id=1, host="h", port=9092, error_code=0, error_message=None
    )
    link = Link(connection(), Filters([As(4, downgrade)]))
    from_client(link, asking(FindCoordinatorRequest(key="g"), 1, 3))
    commands = from_broker(link, answering(FindCoordinatorResponse(coordinators=[coordinator]), 1, 4))
    assert commands[-1] == Close("As.forward failed on a FindCoordinator response")
    assert not any(isinstance(command, ToClient) for command in commands)


def test_an_answer_that_is_none_in_the_brokers_version_is_withheld() -> None:
    link = Link(connection(), Filters([As(0)]))
    from_client(link, beat(1, 4))
    (close,) = [each for each in from_broker(link, b"\0\0\0\5\0\0\0\1\0") if isinstance(each, Close)]
    assert "cannot be read" in str(close.reason)


def versions(error: int = 0) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=error, api_keys=[])


def test_a_broker_that_does_not_know_the_version_of_api_versions_is_understood() -> None:
    asked = ApiVersionsRequest(client_software_name="app", client_software_version="1")
    plain = ApiVersionsRequest()

    def clear(request: ApiVersionsRequest) -> None:
        request.client_software_name = request.client_software_version = ""

    for ours, theirs, sent in ((4, 3, asked), (4, 0, plain)):
        change = clear if sent is plain else lambda request: None
        assert (
            Playbook(As(theirs, change))
            >> FromClient(asking(asked, 1, ours))
            << ToBroker(asking(sent, 1, theirs))
            >> FromBroker(answering(versions(35), 1, 0))
            << ToClient(answering(versions(35), 1, 0))
            >> FromClient(asking(asked, 2, ours))
            << ToBroker(asking(sent, 2, theirs))
            >> FromBroker(answering(versions(), 2, theirs))
            << ToClient(answering(versions(), 2, ours))
        )


@pytest.mark.parametrize("version", [0, 4])
def test_the_answers_to_copies_are_dropped(version: int) -> None:
    assert (
        Playbook(As(version, copies=3), byte_by_byte=False)
        >> FromClient(beat(1, 4) + metadata(2))
        << ToBroker(beat(1, version) * 3 + metadata(2))
        >> FromBroker(beaten(1, version) + beaten(1, version, 27))
        << ToClient(beaten(1, 4))
        >> FromBroker(beaten(1, version, 27)[:9])
        >> FromBroker(beaten(1, version, 27)[9:] + metadata_answer(2))
        << ToClient(metadata_answer(2))
    )


def test_two_handlers_say_together_how_a_request_is_sent() -> None:
    class Naming(Plugin):
        @on_request(HeartbeatRequest)
        def name(self, ctx: Context, request: HeartbeatRequest) -> Decision:
            request.group_id += "!"
            return Forward(request)

    sent = asking(HeartbeatRequest(group_id="g!", generation_id=1, member_id="m"), 1, 0)
    assert Playbook(As(0), Naming()) >> FromClient(beat(1, 4)) << ToBroker(sent)
    assert Playbook(Naming(), As(0, copies=2)) >> FromClient(beat(1, 4)) << ToBroker(sent * 2)


@pytest.mark.parametrize("decision", [{"version": 1}, {"copies": 2}])
def test_an_answer_is_sent_once_in_the_version_that_was_asked_for(decision: dict[str, Any]) -> None:
    reading = Reading(Forward(HeartbeatResponse(error_code=0), **decision))
    link = Link(connection(), Filters([reading]))
    from_client(link, heartbeat(1))
    assert Close("Reading.answer failed on a Heartbeat response") in from_broker(link, heartbeat_answer(1))


def test_no_copies_are_an_error() -> None:
    link = Link(connection(), Filters([As(4, copies=0)]))
    commands = from_client(link, heartbeat(1))
    assert [bytes(each.data) for each in commands if isinstance(each, ToClient)] == [heartbeat_answer(1, -1)]


@pytest.mark.parametrize("api", [api for api in APIS.values() if not api.inter_broker], ids=str)
def test_every_api_goes_there_and_back_in_another_version(api: Any) -> None:
    class Down(Plugin):
        @on_request(api.request)
        def forward(self, ctx: Context, request: Request) -> Decision:
            return Forward(request, version=abs(ctx.version - 1))

    for ours in api.versions[-3:]:
        theirs = abs(ours - 1)
        if theirs not in api.versions:
            continue
        request: Request = blank(api.request)
        response: Response = blank(api.response)
        if api.request is ProduceRequest:
            request.acks = 1  # type: ignore[attr-defined]
        assert (
            Playbook(Down(), byte_by_byte=False)
            >> FromClient(asking(request, 1, ours))
            << ToBroker(asking(request, 1, theirs))
            >> FromBroker(answering(response, 1, theirs))
            << ToClient(answering(response, 1, ours))
        )
