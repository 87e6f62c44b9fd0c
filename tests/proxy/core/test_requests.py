"""Requests that plugins handle: their decisions, and what happens when a handler fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from proxy.core.commands import Close, Emit, PauseClient, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Decision, Forward, Reply, Sleep, Steps
from proxy.core.decorators import on_outcome, on_request, on_unreadable, on_unsupported
from proxy.core.events import Authenticated, HandlerFailed, Undecodable
from proxy.core.fast_path import Beginning, Certain
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.outcome import Outcome
from proxy.core.plugin import Plugin
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import HEARTBEAT, PRODUCE
from proxy.protocol.codec import decode, end_finder
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import ANY, FromBroker, FromClient, Playbook, Time, connection, from_broker, from_client
from tests.proxy.core.frames import (
    answering,
    asking,
    heartbeat,
    heartbeat_answer,
    metadata,
    metadata_answer,
    produce,
    produce_answer,
)

BOOM = ValueError("boom")


class EmitAny(Emit):
    """Equals every Emit, whatever its event."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Emit)


class Handling(Plugin):
    """Handles Heartbeats as the test says."""

    def __init__(self, do: Any) -> None:
        self.do = do
        self.seen: list[Any] = []

    @on_request(HeartbeatRequest, fields="group_id")
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        self.seen.append((ctx.client_id, ctx.correlation_id, ctx.api, ctx.version, request.group_id))
        if isinstance(self.do, Exception):
            raise self.do
        decision: Decision = self.do(request) if callable(self.do) else self.do
        return decision


class Waiting(Plugin):
    """Makes Heartbeats wait."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(1.5)
        return None


class Inquiring(Plugin):
    """Asks for the coordinator before a Heartbeat may pass, and tells the broker its name."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        answer = yield Ask(FindCoordinatorRequest(coordinator_keys=["g"]), version=4)
        request.group_id = answer.coordinators[0].key
        return Forward(request)


class Failing(Plugin):
    """Raises on everything that it sees."""

    @on_request(HeartbeatRequest)
    @on_request(ProduceRequest, fields="acks")
    @on_request(MetadataRequest)
    def anything(self, ctx: Context, request: Any) -> Decision:
        raise BOOM


class Newer(Plugin):
    """Answers ApiVersions requests of unknown versions."""

    @on_unsupported(ApiVersionsRequest)
    def unknown(self, ctx: Context) -> Decision:
        return Reply(ApiVersionsResponse(error_code=35, api_keys=[]), version=0)


def renamed(request: HeartbeatRequest) -> Decision:
    request.group_id = "another, longer one"
    return Forward(request)


def test_a_handler_sees_the_fields_it_wants_and_who_asks() -> None:
    plugin = Handling(None)
    assert Playbook(plugin, byte_by_byte=False) >> FromClient(heartbeat(1, "mine")) << ToBroker(heartbeat(1, "mine"))
    assert plugin.seen == [("app", 1, HEARTBEAT, 4, "mine")]


def test_without_a_decision_the_original_bytes_go_on() -> None:
    def changed_in_passing(request: HeartbeatRequest) -> None:
        request.group_id = "never sent"

    assert Playbook(Handling(changed_in_passing)) >> FromClient(heartbeat(1)) << ToBroker(heartbeat(1))


def test_what_a_handler_forwards_takes_the_place_of_what_came() -> None:
    assert (
        Playbook(Handling(renamed))
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + heartbeat(2, "another, longer one") + metadata(3))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2) + metadata_answer(3))
        << ToClient(metadata_answer(1) + heartbeat_answer(2) + metadata_answer(3))
    )


def test_a_reply_may_take_the_place_of_the_broker() -> None:
    answer = HeartbeatResponse(error_code=27)
    playbook = Playbook(Handling(Reply(answer)))
    assert playbook >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, 27))
    assert playbook.counters.answered == 1


def test_all_that_follows_waits_with_a_request_that_waits() -> None:
    assert (
        Playbook(Waiting())
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3) + heartbeat(4))
        << ToBroker(metadata(1))
        << Wake(0, 1.5)
        << PauseClient()
        >> FromBroker(metadata_answer(1))
        << ToClient(metadata_answer(1))
        >> Time()
        << ToBroker(heartbeat(2) + metadata(3))
        << Wake(0, 1.5)
        >> Time()
        << ToBroker(heartbeat(4))
        << ResumeClient()
    )


def test_a_question_of_ours_goes_behind_older_requests_and_its_answer_not_to_the_client() -> None:
    question = asking(FindCoordinatorRequest(coordinator_keys=["g"]), 0, 4)
    coordinator = FindCoordinatorResponse.Coordinator(
        key="found", node_id=1, host="h", port=1, error_code=0, error_message=None
    )
    assert (
        Playbook(Inquiring())
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + question)
        << PauseClient()
        >> FromBroker(metadata_answer(1) + answering(FindCoordinatorResponse(coordinators=[coordinator]), 0))
        << ToBroker(heartbeat(2, "found") + metadata(3))
        << ToClient(metadata_answer(1))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(2) + metadata_answer(3))
        << ToClient(heartbeat_answer(2) + metadata_answer(3))
    )


def test_a_handler_that_raises_refuses_its_request() -> None:
    failed = HandlerFailed("Failing.anything", HEARTBEAT, 4, BOOM)
    playbook = Playbook(Failing())
    assert playbook >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, error=-1)) << Emit(failed)
    assert playbook.counters.failed_handlers == 1
    assert playbook.counters.answered == 1


class Unread(Plugin):
    """Uses a field of HeartbeatRequest that it does not name."""

    def __init__(self, use: Callable[[Any], object]) -> None:
        self._use = use

    @on_request(HeartbeatRequest, fields="group_id")
    def heartbeat(self, ctx: Context, request: Any) -> Decision:
        self._use(request)
        return Forward(request)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda request: request.member_id, id="reads it"),
        pytest.param(lambda request: setattr(request, "member_id", "another"), id="sets it"),
    ],
)
def test_a_handler_that_uses_a_field_which_it_does_not_name_refuses_its_request(use: Callable[[Any], object]) -> None:
    playbook = Playbook(Unread(use))
    assert playbook >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, error=-1)) << EmitAny()
    assert playbook.counters.failed_handlers == 1


def test_a_handler_that_raises_on_acks_0_ends_it() -> None:
    assert (
        Playbook(Failing())
        >> FromClient(produce(1, acks=0))
        << Emit(HandlerFailed("Failing.anything", PRODUCE, 9, BOOM))
        << PauseClient()
        << Close(ANY)
    )


def test_what_cannot_be_read_is_not_passed_on() -> None:
    frame = bytearray(heartbeat(1))
    frame[18] = 200  # a group id longer than the frame
    plugin = Handling(None)
    link = Link(connection(), Filters([plugin]))
    first, *_, last = from_client(link, frame)
    assert isinstance(first, Emit)
    assert isinstance(first.event, Undecodable)
    assert isinstance(last, Close)
    assert "Heartbeat" in str(last.reason)
    assert plugin.seen == []


def test_acks_0_is_answered_by_nobody_even_when_a_handler_replies() -> None:
    class Refusing(Plugin):
        @on_request(ProduceRequest, fields="topic_data")
        def produce(self, ctx: Context, request: ProduceRequest) -> Decision:
            return Reply(ProduceResponse(responses=[]))

    assert (
        Playbook(Refusing())
        >> FromClient(produce(1, acks=0))
        >> FromClient(produce(2, acks=1))
        << ToClient(produce_answer(2))
    )


class Knowing(Plugin):
    """Passes a Heartbeat, and then all equal ones without being called again."""

    counts = False

    def __init__(self, problem: Exception | None = None) -> None:
        self.keys = frozenset({self})
        self.called = 0
        self.problem = problem
        self.known: dict[bytes, Context] = {}

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        yield Handler(self.heartbeat, Wish(Request, HeartbeatRequest, None), position, fast_path=self)

    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.called += 1

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        assert api == HEARTBEAT.key << 16 | 4
        if self.problem is not None:
            raise self.problem
        return self.known.get(bytes(frame[12:length]))

    def learn(self, ctx: Context, frame: memoryview, body: int) -> None:
        self.known[bytes(frame[12:])] = ctx


def test_what_a_handler_knows_passes_without_being_read() -> None:
    plugin = Knowing()
    link = Link(connection(), Filters([plugin]))
    for number, group in enumerate("aabab", 1):
        assert from_client(link, heartbeat(number, group)) == [ToBroker(heartbeat(number, group))]
    assert plugin.called == 2
    assert [slot[2] for slot in link.inflight.slots] == [plugin.known[heartbeat(0, group)[12:]] for group in "aabab"]


def test_a_request_passes_unread_that_all_plugins_know() -> None:
    plugins = Knowing(), Knowing()
    link = Link(connection(), Filters(plugins))
    from_client(link, heartbeat(1, "a"))
    from_client(link, heartbeat(2, "a"))
    assert [plugin.called for plugin in plugins] == [1, 1]
    plugins[1].known.clear()
    from_client(link, heartbeat(3, "a"))
    assert [plugin.called for plugin in plugins] == [2, 2]


def test_a_sample_that_plugins_share_has_what_each_noted_itself() -> None:
    plugins = Noting("one"), Noting("two")
    link = Link(connection(), Filters(plugins))
    for plugin in plugins:  # each plugin knows another equal request
        notes = dict.fromkeys(plugins, plugin.name)
        plugin.known[heartbeat(0)[12:]] = Context(link.connection, HEARTBEAT, 4, 1, notes, 0)
    from_client(link, heartbeat(1))
    sample = link.inflight.slots[-1][2]
    assert sample is not None
    assert sample.notes == {plugin: plugin.name for plugin in plugins}


def test_of_plugins_that_count_what_passes_nobody_is_asked() -> None:
    plugins = Counting(), Counting()
    link = Link(connection(), Filters(plugins))
    for number in (1, 2):
        from_client(link, heartbeat(number, "a"))
    assert [plugin.called for plugin in plugins] == [2, 2]


class Noting(Knowing):
    """A plugin with a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Counting(Knowing):
    """A request that it passes changes its later decisions."""

    counts = True


class Unknowing(Knowing):
    """Has no fast path."""

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        yield Handler(self.heartbeat, Wish(Request, HeartbeatRequest, None), position)


class Beginnings(Knowing):
    """Passes all requests that begin like one that passed, up to the end of the group id."""

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning:  # type: ignore[override]
        return Beginning(end_finder(HeartbeatRequest, 4, "group_id")(frame, body))


def test_how_requests_begin_that_pass_is_asked_once() -> None:
    plugin = Beginnings()
    link = Link(connection(), Filters([plugin]))
    for number, group in enumerate("aab", 1):
        assert from_client(link, heartbeat(number, group)) == [ToBroker(heartbeat(number, group))]
    assert plugin.called == 2
    assert [slot[0] for slot in link.inflight.slots] == [1, 2, 3]


@pytest.mark.parametrize("how", ["what plugins go by is another", "the client said who it is"])
def test_how_requests_begin_that_pass_is_asked_again(how: str) -> None:
    plugin = Beginnings()
    link = Link(connection(), Filters([plugin]))
    from_client(link, heartbeat(1))
    if how == "the client said who it is":
        link.connection.gate.tell(Authenticated("PLAIN", "User:alice", again=True))
    else:
        link.forget()
    for number in (2, 3):
        from_client(link, heartbeat(number))
    assert plugin.called == 2


class Endings(Beginnings):
    """Passes only those of them that also end like the one that passed."""

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning:  # type: ignore[override]
        begins = super().learn(ctx, frame, body)
        ends = bytes(frame[begins.end :])
        return begins._replace(rest=lambda data, start, stop: data[start:stop] == ends)


def test_what_follows_the_beginning_of_a_request_may_be_looked_at() -> None:
    plugin = Endings()
    link = Link(connection(), Filters([plugin]))
    ends = bytearray(heartbeat(3))
    ends[-1] ^= 1  # no tagged fields: this one cannot be read
    for frame in (heartbeat(1), heartbeat(2)):
        assert from_client(link, frame) == [ToBroker(frame)]
    assert plugin.called == 1
    assert not any(isinstance(command, ToBroker) for command in from_client(link, memoryview(ends)))


class Sure(Beginnings):
    """Is certain of them while `holds`, and lets no others pass."""

    holds = True

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning:  # type: ignore[override]
        begins = super().learn(ctx, frame, body)
        return Beginning(body, lambda rest: False, None, Certain(begins.end, lambda: self.holds))


def test_the_rest_of_requests_that_are_certain_to_pass_is_not_looked_at() -> None:
    plugin = Sure()
    link = Link(connection(), Filters([plugin]))

    def asked(number: int, group: str = "a") -> int:
        before = plugin.called
        assert from_client(link, heartbeat(number, group)) == [ToBroker(heartbeat(number, group))]
        return plugin.called - before

    assert [asked(1), asked(2), asked(3, "b"), asked(4, "b"), asked(5, "a")] == [1, 0, 1, 0, 1]
    plugin.holds = False
    assert asked(6, "a") == 1


def test_if_nobody_can_say_whether_what_follows_may_pass_the_handler_is_called() -> None:
    class Raising(Beginnings):
        def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning:  # type: ignore[override]
            return super().learn(ctx, frame, body)._replace(rest=lambda data, start, stop: 1 // 0 > 0)

    plugin = Raising()
    link = Link(connection(), Filters([plugin]))
    for number in (1, 2):
        assert from_client(link, heartbeat(number)) == [ToBroker(heartbeat(number))]
    assert plugin.called == 2


def test_with_other_filters_no_beginning_is_known() -> None:
    first, second = Beginnings(), Beginnings()
    link = Link(connection(), Filters([first]))
    from_client(link, heartbeat(1))
    link.apply(Filters([second]), Limits())
    from_client(link, heartbeat(2))
    assert (first.called, second.called) == (1, 1)


def test_what_came_in_pieces_is_known_when_it_is_whole() -> None:
    plugin = Knowing()
    link = Link(connection(), Filters([plugin]))
    from_client(link, heartbeat(1))
    frame = heartbeat(2)
    assert from_client(link, frame[:20]) == []
    assert from_client(link, frame[20:]) == [ToBroker(frame)]
    assert plugin.called == 1
    assert len(link.inflight.slots) == 2


def test_who_cannot_say_whether_it_knows_a_request_is_called() -> None:
    plugin = Knowing(ValueError("boom"))
    link = Link(connection(), Filters([plugin]))
    for number in (1, 2):
        assert from_client(link, heartbeat(number)) == [ToBroker(heartbeat(number))]
    assert plugin.called == 2


def test_what_another_handler_wants_to_see_is_read_whoever_knows_it() -> None:
    plugin, reading = Knowing(), Unknowing()
    link = Link(connection(), Filters([plugin, reading]))
    for number in (1, 2):
        from_client(link, heartbeat(number))
    assert (plugin.called, reading.called) == (2, 2)


class Answered(Knowing):
    """Decides for each response whether it needs it, or says once that it needs none after its fast path."""

    def __init__(self, *, unneeded: bool) -> None:
        super().__init__()
        self.unneeded = unneeded
        self.asked = 0

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        if position == 0:
            yield from super().handlers()
        wish = Wish(Response, HeartbeatResponse, None)
        yield Handler(self.answer, wish, position, self.is_needed, unneeded_after=self if self.unneeded else None)

    def is_needed(self, ctx: Context) -> bool:
        self.asked += 1
        return False

    def answer(self, ctx: Context, response: HeartbeatResponse) -> None:
        raise AssertionError("it is not needed")


@pytest.mark.parametrize(("unneeded", "asked"), [([False], [4]), ([True], [1]), ([True, False], [4, 4])])
def test_nobody_is_asked_about_answers_that_all_say_they_do_not_need(unneeded: list[bool], asked: list[int]) -> None:
    plugins = [Answered(unneeded=each) for each in unneeded]
    link = Link(connection(), Filters(plugins))
    for number in range(4):
        from_client(link, heartbeat(number))
        assert from_broker(link, heartbeat_answer(number)) == [ToClient(heartbeat_answer(number))]
    assert [each.asked for each in plugins] == asked


class Saying(Answered):
    """Has samples that say whether the answer is needed, before the plugin is asked."""

    def __init__(self, *, unneeded: bool) -> None:
        super().__init__(unneeded=False)
        self.says = unneeded

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        for handler in super().handlers(position):
            yield handler if handler.needed is None else replace(handler, unneeded_while=self)

    def learn(self, ctx: Context, frame: memoryview, body: int) -> None:
        sample = ctx.as_sample()
        sample.unneeded = lambda: self.says
        super().learn(sample, frame, body)


@pytest.mark.parametrize(("says", "asked"), [(True, 1), (False, 4)])
def test_a_sample_may_say_that_its_answers_are_not_needed(says: bool, asked: int) -> None:
    plugin = Saying(unneeded=says)
    link = Link(connection(), Filters([plugin]))
    for number in range(4):
        from_client(link, heartbeat(number))
        assert from_broker(link, heartbeat_answer(number)) == [ToClient(heartbeat_answer(number))]
    assert plugin.asked == asked


def test_it_speaks_for_no_other_plugin() -> None:
    saying, other = Saying(unneeded=True), Answered(unneeded=False)
    link = Link(connection(), Filters([saying, other]))
    for number in range(4):
        from_client(link, heartbeat(number))
        from_broker(link, heartbeat_answer(number))
    assert other.asked == 4


class Reading(Plugin):
    """Reads whole Heartbeats."""

    def __init__(self) -> None:
        self.groups: list[str] = []

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.groups.append(request.group_id)


def test_bytes_after_a_request_are_ignored_and_pass_with_it() -> None:
    reading, frame = Reading(), bytearray(heartbeat(1) + b"\1\0\0")
    frame[3] += 3
    assert Playbook(reading) >> FromClient(bytes(frame)) << ToBroker(bytes(frame))
    assert reading.groups == ["g", "g"], "once whole, once byte by byte"


class Last(Plugin):
    """Passes one request, and ends the connection after it."""

    @on_request(ProduceRequest, fields="acks")
    def produce(self, ctx: Context, request: ProduceRequest) -> Decision:
        return Forward(request, end="that was enough")


def test_a_request_may_be_the_last_that_passes() -> None:
    assert (
        Playbook(Last())
        >> FromClient(heartbeat(1) + produce(2, acks=0) + heartbeat(3))
        << ToBroker(heartbeat(1) + produce(2, acks=0))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close("that was enough")
    )
    assert (
        Playbook(Last()) >> FromClient(produce(2, acks=0)) << ToBroker(produce(2, acks=0)) << Close("that was enough")
    )


@pytest.mark.parametrize("acks", [0, 1, -1])
@pytest.mark.parametrize("size", [0, 30, 100_000])
def test_acks_are_read_however_the_request_is_cut(acks: int, size: int) -> None:
    frame = produce(1, acks, b"r" * size)
    for at in (12, 13, 20, 22, 25, len(frame) - 1):
        link = Link(connection(), Filters())
        given = [*from_client(link, frame[:at]), *from_client(link, frame[at:])]
        assert b"".join(bytes(command.data) for command in given if isinstance(command, ToBroker)) == frame
        assert len(link.inflight.slots) == (acks != 0)


def test_a_request_that_begins_like_the_last_one_is_taken_for_no_other() -> None:
    link = Link(connection(), Filters())
    stream = [
        produce(1, 1),
        produce(2, 1),
        produce(3, 0),
        produce(4, 1, version=8),
        produce(5, 0),
        produce(6, 1),
        produce(7, -1),
    ]
    for frame in stream:
        from_client(link, frame)
    assert [slot[0] for slot in link.inflight.slots] == [1, 2, 4, 6, 7]
    whole = produce(8, -1)
    short = (16).to_bytes(4, "big") + whole[4:20]  # it ends within its acks; the next bytes would complete these
    given = from_client(link, short + whole[20:] * 2)
    assert any(isinstance(command, Emit) for command in given)
    assert len(link.inflight.slots) == 5


def test_connections_of_producers_that_begin_alike_share_what_is_remembered_and_no_other_does() -> None:
    filters = Filters()
    links = {name: Link(connection(), filters) for name in ("first", "same", "other client", "other acks", "no answer")}
    for name, client_id, acks in (
        ("first", "app", 1),
        ("same", "app", 1),
        ("other client", "else", 1),
        ("other acks", "app", -1),
        ("no answer", "app", 0),
    ):
        for number in (1, 2):
            from_client(links[name], produce(number, acks, client_id=client_id))
        assert links[name].connection.client_id == client_id
        assert len(links[name].inflight.slots) == (2 if acks else 0)
    known = [link.requests._heads.passing.get(PRODUCE.key << 16 | 9) for link in links.values()]
    assert known[0] is known[1]
    assert len(set(map(id, known[1:]))) == 4


def test_a_produce_request_without_acks_ends_it() -> None:
    frame = b"\0\0\0\x0c\0\0\0\3\0\0\0\1\xff\xff\xff\xff"
    assert Playbook(byte_by_byte=False) >> FromClient(frame) << EmitAny() << PauseClient() << Close(ANY)


def test_a_version_of_the_future_is_answered_where_a_plugin_knows_how() -> None:
    future = b"\0\0\0\x0c\0\x12\0\x63\0\0\0\7\0\0\0\0"
    answer = b"\0\0\0\x0a\0\0\0\7\0\x23\0\0\0\0"
    playbook = Playbook(Newer())
    assert playbook >> FromClient(future + heartbeat(8)) << ToBroker(heartbeat(8)) << ToClient(answer)
    assert playbook.counters.answered == 1


def test_a_version_that_cannot_be_answered_ends_it() -> None:
    class Broken(Plugin):
        @on_unsupported(ApiVersionsRequest)
        def unknown(self, ctx: Context) -> Decision:
            raise BOOM

    future = b"\0\0\0\x0c\0\x12\0\x63\0\0\0\7\0\0\0\0"
    assert Playbook(Broken(), byte_by_byte=False) >> FromClient(future) << EmitAny() << PauseClient() << Close(ANY)


@pytest.mark.parametrize("answered", [True, False])
def test_what_cannot_be_read_may_be_answered_by_a_plugin_that_asked_the_broker(answered: bool) -> None:
    class Unread(Plugin):
        @on_request(ApiVersionsRequest)
        def read(self, ctx: Context, request: ApiVersionsRequest) -> Decision:
            raise BOOM

        @on_unreadable(ApiVersionsRequest)
        def unread(self, ctx: Context) -> Steps:
            yield Ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
            return Reply(ApiVersionsResponse(error_code=35, api_keys=[]), version=0) if answered else None

    broken = b"\0\0\0\x0c\0\x12\0\x05\0\0\0\7\0\0\0\x7f"
    link = Link(connection(), Filters([Unread()]))
    assert [type(one) for one in from_client(link, broken)] == [PauseClient, ToBroker]
    told = from_broker(link, heartbeat_answer(0))
    if answered:
        assert told == [ToClient(b"\0\0\0\x0a\0\0\0\7\0\x23\0\0\0\0"), ResumeClient()]
    else:
        assert [type(one) for one in told] == [Emit, Close]


def test_the_header_of_a_client_is_kept_when_its_request_is_rewritten() -> None:
    frame = asking(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, client_id=None)
    (command,) = from_client(Link(connection(), Filters([Handling(renamed)])), frame)
    assert isinstance(command, ToBroker)
    assert bytes(command.data[4:15]) == frame[4:15]
    assert decode(HeartbeatRequest, 4, bytes(command.data[15:])).group_id == "another, longer one"


class NamingEnds(Plugin):
    """Notes what the client calls itself when a request has ended."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str | None]] = []

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append((ctx.correlation_id, ctx.client_id))


class Naming(NamingEnds):
    """Notes it when a request is handled, too."""

    @on_request(HeartbeatRequest, fields="group_id")
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.told.append((ctx.correlation_id, ctx.client_id))


def named(number: int, client_id: str | None) -> bytes:
    return asking(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), number, client_id=client_id)


def test_a_request_of_another_client_id_waits_for_the_answers_to_those_before_it() -> None:
    plugin = Naming()
    before = named(1, "app") + named(2, "app")
    assert (
        Playbook(plugin, byte_by_byte=False)
        >> FromClient(before + named(3, "other") + named(4, "other"))
        << ToBroker(before)
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
        << ToBroker(named(3, "other") + named(4, "other"))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(3) + heartbeat_answer(4))
        << ToClient(heartbeat_answer(3) + heartbeat_answer(4))
    )
    assert plugin.told == [(number, "app" if number < 3 else "other") for number in (1, 2, 1, 2, 3, 4, 3, 4)]


@pytest.mark.parametrize("cut", range(1, len(named(2, "other")) + 1))
@pytest.mark.parametrize("client_id", ["other", "apple", "app", None])
@pytest.mark.parametrize(("naming", "times"), [(Naming, 2), (NamingEnds, 1)])
def test_wherever_the_second_request_is_cut_each_is_told_with_its_own_client_id(
    cut: int, client_id: str | None, naming: type[NamingEnds], times: int
) -> None:
    plugin, second, third = naming(), named(2, client_id), named(3, "app")
    link = Link(connection(), Filters([plugin]))
    commands = from_client(link, named(1, "app") + second[:cut])
    commands += from_client(link, second[cut:] + third)
    for number in (1, 2, 3):
        commands += from_broker(link, heartbeat_answer(number))
        assert [one for one in commands if isinstance(one, ToClient)][-1] == ToClient(heartbeat_answer(number))
    assert b"".join(bytes(one.data) for one in commands if isinstance(one, ToBroker)) == (
        named(1, "app") + second + third
    )
    assert sorted(plugin.told, key=lambda one: one[0]) == [
        *[(1, "app")] * times,
        *[(2, client_id)] * times,
        *[(3, "app")] * times,
    ]


@pytest.mark.parametrize("cut", range(1, len(produce(2, 1, client_id="other")) + 1))
@pytest.mark.parametrize("client_id", ["other", "apple", "app", None])
def test_so_is_a_produce_request_which_passes_in_pieces(cut: int, client_id: str | None) -> None:
    plugin = NamingEnds()
    frames = [produce(1, 1), produce(2, 1, client_id=client_id), produce(3, 1)]
    link = Link(connection(), Filters([plugin]))
    commands = from_client(link, frames[0] + frames[1][:cut])
    commands += from_client(link, frames[1][cut:] + frames[2])
    for number in (1, 2, 3):
        commands += from_broker(link, produce_answer(number))
        assert [one for one in commands if isinstance(one, ToClient)][-1] == ToClient(produce_answer(number))
    assert b"".join(bytes(one.data) for one in commands if isinstance(one, ToBroker)) == b"".join(frames)
    assert plugin.told == [(1, "app"), (2, client_id), (3, "app")]


def test_nobody_waits_where_no_plugin_sees_who_asks() -> None:
    frames = named(1, "app") + named(2, "other")
    assert from_client(Link(connection(), Filters()), frames) == [ToBroker(frames)]
