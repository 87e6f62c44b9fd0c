"""One conversation: which messages reach the broker and the client, in which order, and how it ends."""

import pytest

from proxy.core.commands import Close, PauseClient, ResumeClient, ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decisions import Decision, Disconnect, Reply
from proxy.core.decorators import on_request
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.header import TAGS, request_frame
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.testing import ANY, BrokerCloses, ClientCloses, FromBroker, FromClient, Playbook, connection
from tests.proxy.core.frames import answering, heartbeat, heartbeat_answer, metadata, metadata_answer, produce

EMPTY = MetadataResponse(brokers=[], topics=[])


class Answering(Plugin):
    """Answers every Metadata request itself."""

    @on_request(MetadataRequest, fields="topics")
    def metadata(self, ctx: Context, request: MetadataRequest) -> Decision:
        return Reply(EMPTY)


class Ending(Plugin):
    """Disconnects a client that sends a Metadata request."""

    @on_request(MetadataRequest, fields="topics")
    def metadata(self, ctx: Context, request: MetadataRequest) -> Decision:
        return Disconnect("no Metadata today")


def test_what_nobody_wants_passes() -> None:
    assert (
        Playbook()
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(heartbeat(1) + metadata(2))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(metadata_answer(2))
        << ToClient(metadata_answer(2))
    )


def test_a_chunk_that_nobody_wants_leaves_as_it_came_without_a_command() -> None:
    link = Link(connection(), Filters())
    assert link.receive_client(memoryview(heartbeat(1) + heartbeat(2) + produce(3, acks=1)[:40])) is None
    assert link.receive_broker(memoryview(heartbeat_answer(1))) is None
    link.client_closed()
    assert link.receive_broker(memoryview(heartbeat_answer(2))) == [ToClient(heartbeat_answer(2))]


@pytest.mark.parametrize(
    ("client_id", "least"), [("app", 0), ("x" * 30_000, 30_000), ("x" * 30_000 + "\U0001f600", 120_000)]
)
def test_a_long_client_id_is_held_as_long_as_the_conversation(client_id: str, least: int) -> None:
    link = Link(connection(), Filters())
    link.connection.client_id = client_id
    assert link.held >= least
    assert bool(link.held) is bool(least)


def test_a_long_header_is_held_until_another_comes() -> None:
    link = Link(connection(), Filters([Answering()]))
    for client_id, least in (("x" * 10_000, 10_000), ("app", 0)):
        link.receive_client(memoryview(request_frame(MetadataRequest(topics=None), 9, 1, client_id)))
        assert link.held >= least
        assert bool(link.held) is bool(least)


def test_long_beginnings_of_requests_that_pass_are_held_too() -> None:
    link = Link(connection(), Filters())
    transactional_id, versions = "x" * 3_000, (9, 10, 11)
    for version in versions:
        request = ProduceRequest(transactional_id=transactional_id, acks=1, timeout_ms=1, topic_data=[])
        link.receive_client(memoryview(request_frame(request, version, 1, "app")))
    assert link.held >= len(versions) * len(transactional_id)


def _tagged(count: int) -> memoryview:
    """A request whose header has so many empty tagged fields, of two bytes each."""
    tags = bytes([count]) + b"".join(bytes([number, 0]) for number in range(count))
    plain = request_frame(MetadataRequest(topics=None), 9, 1, "app")
    head = REQUEST_HEAD.size + len("app") + 2
    rest = plain[SIZE.size : head] + tags + plain[head + 1 :]
    return memoryview(SIZE.pack(len(rest)) + rest)


@pytest.mark.parametrize(("count", "closes"), [(0, False), ((TAGS - 1) // 2, False), (1 + (TAGS - 1) // 2, True)])
@pytest.mark.parametrize("pieces", [1, 1_000])
def test_a_header_with_long_tagged_fields_ends_the_conversation(count: int, pieces: int, closes: bool) -> None:
    link, frame, step = Link(connection(), Filters([Answering()])), _tagged(count), 1_000 // pieces
    for at in range(0, len(frame), step):
        link.receive_client(frame[at : at + step])
    assert link.closed is closes


def test_an_answer_of_ours_leaves_at_once_when_nothing_is_older() -> None:
    assert Playbook(Answering()) >> FromClient(metadata(1)) << ToClient(answering(EMPTY, 1))


def test_an_answer_of_ours_waits_for_older_ones() -> None:
    assert (
        Playbook(Answering())
        >> FromClient(heartbeat(1) + metadata(2) + heartbeat(3) + metadata(4))
        << ToBroker(heartbeat(1) + heartbeat(3))
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(3))
        << ToClient(heartbeat_answer(1) + answering(EMPTY, 2) + heartbeat_answer(3) + answering(EMPTY, 4))
    )


def test_an_answer_of_ours_never_cuts_into_another() -> None:
    older = heartbeat_answer(1)
    assert (
        Playbook(Answering())
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(older[:-2])
        << ToClient(older[:-2])
        >> FromClient(metadata(2))
        >> FromBroker(older[-2:])
        << ToClient(older[-2:] + answering(EMPTY, 2))
    )


def test_correlation_ids_may_repeat() -> None:
    assert (
        Playbook()
        >> FromClient(heartbeat(-7) + metadata(-7))
        << ToBroker(heartbeat(-7) + metadata(-7))
        >> FromBroker(heartbeat_answer(-7) + metadata_answer(-7))
        << ToClient(heartbeat_answer(-7) + metadata_answer(-7))
    )


@pytest.mark.parametrize("number", [2, 3])
def test_an_answer_to_another_question_ends_it(number: int) -> None:
    playbook = Playbook(byte_by_byte=False)
    assert (
        playbook
        >> FromClient(heartbeat(1) + heartbeat(2))
        << ToBroker(heartbeat(1) + heartbeat(2))
        >> FromBroker(heartbeat_answer(number) + heartbeat_answer(1))
        << Close(f"the broker answered {number} where 1 was due")
    )
    assert playbook.counters.broken_pairs == 1


def test_an_answer_to_nothing_ends_it() -> None:
    playbook = Playbook(byte_by_byte=False)
    assert playbook >> FromBroker(heartbeat_answer(9)) << Close("the broker answered 9, but nothing was asked")


def test_acks_0_has_no_answer() -> None:
    assert (
        Playbook()
        >> FromClient(produce(1, acks=0) + heartbeat(2) + produce(3, acks=0))
        << ToBroker(produce(1, acks=0) + heartbeat(2) + produce(3, acks=0))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
        >> ClientCloses()
        << Close()
    )


def test_a_client_that_closes_still_gets_its_answers() -> None:
    assert (
        Playbook()
        >> FromClient(heartbeat(1) + heartbeat(2))
        << ToBroker(heartbeat(1) + heartbeat(2))
        >> ClientCloses()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
        << Close()
    )


def test_a_client_that_closes_in_the_middle_of_a_request_is_let_go() -> None:
    half = heartbeat(1)[:20]
    assert Playbook() >> FromClient(half) << ToBroker(half) >> ClientCloses() << Close()


def test_a_broker_that_is_gone_takes_the_client_with_it() -> None:
    assert Playbook() >> BrokerCloses() << Close()
    assert (
        Playbook()
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> BrokerCloses()
        << Close("the broker closed the connection with requests in flight")
    )


def test_a_disconnect_lets_older_answers_out_first() -> None:
    assert (
        Playbook(Ending())
        >> FromClient(heartbeat(1) + metadata(2) + heartbeat(3))
        << ToBroker(heartbeat(1))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close("no Metadata today")
    )


@pytest.mark.parametrize("garbage", [b"\xff\xff\xff\xff", b"\0\0\0\1", b"\x7f\0\0\0", b"GET /", b"\x16\x03\x01\x02\0"])
def test_what_is_no_frame_ends_it_without_an_answer(garbage: bytes) -> None:
    playbook = Playbook(byte_by_byte=False)
    assert playbook >> FromClient(garbage + heartbeat(1)) << PauseClient() << Close(ANY)
    assert playbook.counters.bad_frames == 1


def test_a_frame_over_the_limit_ends_it_without_an_answer() -> None:
    playbook = Playbook(limits=Limits(frame=100), byte_by_byte=False)
    limit = "the client sent what is no request: a frame of 101 bytes, over the limit of 100"
    assert playbook >> FromClient(b"\0\0\0\x65") << PauseClient() << Close(limit)


def test_a_broker_that_sends_garbage_ends_it() -> None:
    assert (
        Playbook(byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(b"HTTP/1.1 400 Bad Request")
        << Close("the broker sent what is no response: this is HTTP, not Kafka")
    )


def test_a_client_with_too_much_in_flight_is_not_read_until_answers_come() -> None:
    playbook = Playbook(limits=Limits(in_flight=2), byte_by_byte=False)
    assert (
        playbook
        >> FromClient(heartbeat(1) + heartbeat(2) + heartbeat(3) + heartbeat(4))
        << ToBroker(heartbeat(1) + heartbeat(2))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToBroker(heartbeat(3))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(heartbeat_answer(2) + heartbeat_answer(3))
        << ToBroker(heartbeat(4))
        << ToClient(heartbeat_answer(2) + heartbeat_answer(3))
        << ResumeClient()
    )
    assert playbook.counters.full_pipelines == 3 - 1


@pytest.mark.parametrize(
    ("head", "what"),
    [
        ("0000000a 03e7 0000", "the unknown API 999"),
        ("0000000a 0003 0063", "Metadata v99, a version that nobody knows"),
        ("0000000a 0003 ffff", "Metadata v-1, a version that nobody knows"),
        ("0000000a 0004 0001", "LeaderAndIsr v1, which is for brokers only"),
    ],
)
def test_what_clients_have_no_business_with_ends_it_as_a_broker_would(head: str, what: str) -> None:
    stranger = bytes.fromhex(head) + b"\0\0\0\5\xff\xff"
    playbook = Playbook()
    assert (
        playbook
        >> FromClient(heartbeat(1) + stranger)
        << ToBroker(heartbeat(1))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close(f"the client asked for {what}")
    )
    assert playbook.counters.unknown_apis == 1
