"""Repeated requests: one that equals an earlier one passes unread, and only if it would also pass when it is read."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl import Acl
from plugins.acl.session_fast_path import MOST, ROOM, FetchSamples, SessionFastPath
from plugins.acl.topics_fast_path import TopicsFastPath
from proxy.core.commands import Close, Emit, ToBroker, ToClient
from proxy.core.events import Undecodable
from proxy.core.request_heads import CERTAIN
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Request, Response
from proxy.testing import from_broker, from_client
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_fetch import READS, WITH_SESSIONS, Consumer, fetch, records, told
from tests.plugins.acl.test_produce import WRITES, WRITES_IN_TRANSACTIONS, Producer, batch, produce, written

Making = Callable[..., Rules]


def serves(request: Request, version: int) -> Response:
    """A broker that does all it is asked."""
    if isinstance(request, ProduceRequest):
        return written(version, *(each.name or each.topic_id.rstrip(b"\0").decode() for each in request.topic_data))
    if isinstance(request, FetchRequest):
        return records(version)
    assert isinstance(request, MetadataRequest)
    return metadata_of({name: topic_id(name) for name in ("mine", "theirs", "ours")}, request)


def served(rules: Rules) -> Any:
    """A producer or consumer whose broker answers at once."""
    talk = Producer(rules)
    talk.broker = serves
    return talk


class Counted:
    """The plugin's Produce and Fetch handlers, and how many requests they read."""

    def __init__(self, acl: Acl) -> None:
        self.count = 0
        for part in (acl._produce, acl._fetch):
            part.request = self.counting(part.request)  # type: ignore[method-assign, assignment]

    def counting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(ctx: Any, request: Any) -> Any:
            self.count += 1
            return call(ctx, request)

        return counted


@pytest.mark.parametrize("version", range(14))
def test_a_producer_that_repeats_itself_with_other_records_is_read_once(rules: Making, version: int) -> None:
    own = rules(WRITES)
    counted = Counted(own.acl)
    talk = Producer(own)
    for size in (61, 61, 200, 16_000, 3):
        talk.ask(produce(version, "mine", records=bytes(size)), version)
    assert talk.written == [["mine"]] * 5
    assert counted.count == 1


@pytest.mark.parametrize("version", range(14))
def test_one_with_several_topics_is_read_once_too(rules: Making, version: int) -> None:
    own = rules("acls: [{allow: User:alice, to: Write, topics: '*'}]")
    counted = Counted(own.acl)
    talk = Producer(own)
    for content in (b"a", b"b", b"c", b"d", b"longer"):
        talk.ask(produce(version, "mine", "theirs", records=content * 61), version)
    talk.ask(produce(version, "theirs", "mine"), version)
    assert talk.written == [["mine", "theirs"]] * 5 + [["theirs", "mine"]]
    assert counted.count == 1


@pytest.mark.parametrize("version", range(19))
def test_a_consumer_that_repeats_itself_with_other_offsets_is_known(rules: Making, version: int) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: '*'}]")
    counted = Counted(own.acl)
    talk = Consumer(own)
    for offset in (1, 2, 3, 2**40):
        talk.ask(fetch(version, "mine", "ours", offset=offset), version)
        talk.answer(records(version, "mine"))
    talk.ask(fetch(version, "ours"), version)
    assert counted.count == 1


@pytest.mark.parametrize("version", range(7, 19))
def test_in_a_session_it_is_known_the_third_time(rules: Making, version: int) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: '*'}]")
    counted = Counted(own.acl)
    talk = Consumer(own)
    talk.opened(version, "mine", "ours")
    for epoch in (1, 2, 3, 4):
        talk.ask(fetch(version, "mine", session=(7, epoch), offset=epoch), version)
        talk.answer(records(version, "mine"))
    assert counted.count == 3


def in_session(own: Rules, version: int) -> Consumer:
    """A consumer whose next request of its session, with the epoch 4, passes unread."""
    talk = Consumer(own)
    talk.opened(version, "mine", "ours")
    for epoch in (1, 2, 3):
        talk.ask(fetch(version, "mine", session=(7, epoch), offset=epoch), version)
        talk.answer(records(version, "mine"))
    return talk


@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_a_longer_request_that_has_come_in_part_is_not_taken_for_one_that_passed(rules: Making, version: int) -> None:
    talk = in_session(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"), version)
    frame = bytearray(request_frame(fetch(version, "mine", session=(7, 4)), version, 9, "app"))
    size = len(frame) - SIZE.size
    frame[: SIZE.size] = SIZE.pack(size + 1)
    assert not any(isinstance(command, ToBroker) for command in from_client(talk.link, frame))
    frame[: SIZE.size] = SIZE.pack(size)
    other = in_session(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"), version)
    assert [*map(type, from_client(other.link, frame))] == [ToBroker]


@pytest.mark.parametrize("throttled", [0, 5])
@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_an_error_in_answer_to_a_request_that_passed_ends_its_session(
    rules: Making, version: int, throttled: int
) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: '*'}]")
    counted = Counted(own.acl)
    talk = in_session(own, version)
    before = counted.count
    talk.ask(fetch(version, "mine", session=(7, 4)), version)
    code = ErrorCode.INVALID_FETCH_SESSION_EPOCH
    answer = talk.answer(FetchResponse(throttle_time_ms=throttled, error_code=code, responses=[]))
    assert answer.error_code == code
    assert counted.count == before
    talk.ask(fetch(version, "mine", session=(7, 5)), version)
    assert counted.count == before + 1


@pytest.mark.parametrize("at", range(1, 20))
@pytest.mark.parametrize("version", [7, 17])
def test_an_error_in_an_answer_that_comes_in_pieces_ends_its_session_too(rules: Making, version: int, at: int) -> None:
    talk = in_session(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"), version)
    talk.ask(fetch(version, "mine", session=(7, 4)), version)
    _, _, number = talk._asked.pop(0)
    answer = FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, responses=[])
    frame = response_frame(answer, version, number)
    for piece in (frame[:at], frame[at:]):
        talk._happens(from_broker(talk.link, memoryview(bytearray(piece))))
    over = talk.ask(fetch(version, "mine", session=(7, 5)), version)
    assert over.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH, "of the answer, which is before that of the proxy"
    assert talk.rest()[0].error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_of_two_sessions_an_error_ends_the_one_whose_request_it_answers(rules: Making, version: int) -> None:
    talk = Consumer(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"))
    names = {7: "mine", 8: "ours"}
    for session, name in names.items():
        talk.ask(fetch(version, name, session=(0, 0)), version)
        talk.answer(records(version, name, session=session))
    for session in (7, 8):  # the last whose request is read is 8
        for epoch in (1, 2, 3):
            talk.ask(fetch(version, names[session], session=(session, epoch), offset=epoch), version)
            talk.answer(records(version, names[session]))
    talk.ask(fetch(version, "mine", session=(7, 4)), version)
    talk.answer(FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, responses=[]))
    over = talk.ask(fetch(version, "mine", session=(7, 5)), version)
    assert over.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert talk.ask(fetch(version, "ours", session=(8, 4)), version) is None  # it went to the broker


@pytest.mark.parametrize("version", [9, 13])
def test_the_next_topic_is_read_whatever_passed_before(rules: Making, version: int) -> None:
    talk = served(rules(WRITES))
    for _ in range(3):
        talk.ask(produce(version, "mine"), version)
    assert told_errors(talk.ask(produce(version, "theirs"), version)) == [29]
    talk.ask(produce(version, "mine", "theirs"), version)
    assert talk.written == [["mine"]] * 4


@pytest.mark.parametrize("version", [9, 13])
def test_when_the_rules_change_nothing_is_known_any_more(rules: Making, version: int) -> None:
    own = rules(WRITES)
    talk = served(own)
    for _ in range(3):
        talk.ask(produce(version, "mine"), version)
    own.become("acls: [{allow: User:alice, to: Write, topics: other}]")
    assert told_errors(talk.ask(produce(version, "mine"), version)) == [29]


def test_when_the_moment_of_a_rule_is_over_nothing_is_known_any_more(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Write, topics: mine, during: {hours: 08:00-18:00}}]")
    talk = served(own)
    for _ in range(2):
        talk.ask(produce(9, "mine"), 9)
    own.clock.time += 8 * 3600
    assert told_errors(talk.ask(produce(9, "mine"), 9)) == [29]
    own.clock.time -= 8 * 3600
    talk.to_broker.clear()
    talk.ask(produce(9, "mine"), 9)
    assert talk.written == [["mine"]]


def test_when_the_client_becomes_another_nothing_is_known_any_more(rules: Making) -> None:
    talk = served(rules(WRITES))
    for _ in range(2):
        talk.ask(produce(9, "mine"), 9)
    talk.connection.principal = "User:mallory"
    assert told_errors(talk.ask(produce(9, "mine"), 9)) == [29]


@pytest.mark.parametrize(("own", "written"), [(WRITES, 2), (WRITES_IN_TRANSACTIONS, 3)])
def test_a_plain_batch_opens_no_way_for_transactional_ones(rules: Making, own: str, written: int) -> None:
    talk = served(rules(own))
    for transactional in (False, False, True):
        talk.ask(produce(9, "mine", records=batch(transactional), transactional_id="mine"), 9)
    assert len(talk.written) == written


def test_acks_0_is_not_taken_for_what_is_like_it(rules: Making) -> None:
    own = rules(WRITES)
    counted = Counted(own.acl)
    talk = served(own)
    answers = [talk.ask(produce(9, "mine", acks=acks), 9) for acks in (1, 0, 0, 1)]
    assert [answer is None for answer in answers] == [False, True, True, False]
    assert counted.count == 3


def test_a_follower_is_not_taken_for_the_consumer_it_was(rules: Making) -> None:
    own = rules(READS.format("mine"))
    talk = served(own)
    for _ in range(3):
        talk.ask(fetch(14, "mine"), 14)
    assert told(talk.ask(fetch(14, "mine", replica_id=1), 14)) == [("mine", {29}, False)]


def test_a_session_that_now_has_a_refused_topic_is_read(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(12, "mine")
    for epoch in (1, 2, 3):
        talk.ask(fetch(12, session=(7, epoch)), 12)
        talk.answer(records(12))
    talk.ask(fetch(12, "theirs", session=(7, 4)), 12)
    talk.answer(records(12))
    talk.ask(fetch(12, session=(7, 5)), 12)
    assert told(talk.answer(records(12))) == [("theirs", {29}, False)]


def test_a_session_whose_offsets_were_not_read_begins_anew_when_a_topic_is_allowed_again(rules: Making) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Consumer(own)
    talk.opened(12, "mine", "ours")
    for epoch in (1, 2, 3):
        talk.ask(fetch(12, "ours", session=(7, epoch), offset=5 + epoch), 12)
        talk.answer(records(12, "ours"))
    own.become(READS.format("mine"))
    talk.ask(fetch(12, session=(7, 4)), 12)
    assert told(talk.answer(records(12, "mine"))) == [("mine", {0}, True), ("ours", {29}, False)]
    own.become(READS.format("mine, ours"))
    assert talk.ask(fetch(12, session=(7, 5)), 12).error_code == 70


def test_what_was_forgotten_meanwhile_does_not_come_back_unread(rules: Making) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Consumer(own)
    talk.opened(12, "mine")
    for epoch in (1, 2, 3):
        talk.ask(fetch(12, "ours", session=(7, epoch)), 12)
        talk.answer(records(12))
    talk.ask(fetch(12, session=(7, 4), forget=["ours"]), 12)
    talk.answer(records(12))
    talk.ask(fetch(12, "ours", session=(7, 5)), 12)
    talk.answer(records(12))
    own.become(READS.format("mine"))
    talk.ask(fetch(12, session=(7, 6)), 12)
    assert [each.topic for each in talk.fetched[-1].forgotten_topics_data] == ["ours"]


def test_one_whose_turn_it_is_not_is_not_taken_for_the_next(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(12, "mine")
    for epoch in (1, 2, 3):
        talk.ask(fetch(12, "mine", session=(7, epoch)), 12)
        talk.answer(records(12))
    for epoch in (3, 5, 2**31 - 1, -7):
        assert talk.ask(fetch(12, "mine", session=(7, epoch)), 12).error_code == 71
    assert talk.ask(fetch(12, "mine", session=(7, 4)), 12) is None


@pytest.mark.parametrize("version", WITH_SESSIONS)
def test_the_same_request_again_is_not_even_looked_for(
    rules: Making, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for: list[int] = []
    find = FetchSamples.find

    def finding(samples: FetchSamples, api: int, rest: memoryview) -> Any:
        looked_for.append(api)
        return find(samples, api, rest)

    own = rules(READS.format("mine, ours"))
    counted, talk = Counted(own.acl), Consumer(own)
    talk.opened(version, "mine", "ours")

    def ask(epoch: int, *names: str) -> int:
        looked_for.clear()
        answer = talk.ask(fetch(version, *names, session=(7, epoch), offset=5 + epoch), version)
        if answer is None:
            talk.answer(records(version))
        return len(looked_for)

    for epoch in (1, 2):
        ask(epoch, "mine")
    before = counted.count
    monkeypatch.setattr(FetchSamples, "find", finding)
    assert [ask(epoch, "mine") for epoch in (3, 4)] == [0, 0]
    assert counted.count == before
    assert ask(6, "mine"), "it is not its turn"
    assert ask(5, "ours"), "another topic"
    own.become(READS.format("ours"))
    assert ask(6, "mine"), "by other rules"
    assert counted.count > before


class InSession:
    """A consumer with a session, and what is remembered of its requests."""

    def __init__(self, own: Rules) -> None:
        self.talk, self.epoch = Consumer(own), 0
        self.talk.opened(9, "mine")

    def ask(self, *names: str) -> None:
        self.epoch += 1
        self.talk.ask(fetch(9, *names, session=(7, self.epoch), offset=self.epoch), 9)
        self.talk.answer(records(9))

    @property
    def kept(self) -> FetchSamples:
        (kept,) = (value for key, value in self.talk.connection.samples.items() if isinstance(key, SessionFastPath))
        assert isinstance(kept, FetchSamples)
        return kept


def test_of_many_different_requests_not_all_are_remembered(rules: Making) -> None:
    consumer = InSession(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"))
    for number in range(MOST + 3):
        for _ in range(3):
            consumer.ask("t" * (number + 1))
    assert len(consumer.kept._layouts) == MOST


def test_what_is_remembered_of_one_connection_has_its_room(rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.acl.session_fast_path.PATIENCE", 5)
    monkeypatch.setattr("plugins.acl.session_fast_path.ROOM", ROOM // 4)
    consumer = InSession(rules("acls: [{allow: User:alice, to: Read, topics: '*'}]"))
    dice, names = random.Random(3), [f"{number}-".ljust(200, "t") for number in range(60)]
    most = refilled = 0
    for _ in range(60):
        dice.shuffle(names)
        consumer.ask(*names)
        layouts = consumer.kept._layouts.values()
        held = sum(sys.getsizeof(piece) for layout in layouts if layout for said in layout.said for piece in said)
        refilled += held < most
        most = held if held < most else max(most, held)
        assert held <= ROOM // 4
    assert refilled, "what found no room is learnt in the end"


def test_what_is_remembered_is_held_and_let_go_where_memory_is_short(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: '*'}]")
    counted, consumer = Counted(own.acl), InSession(own)
    names = [f"{number}".ljust(CERTAIN // 4, "t") for number in range(5)]  # too long to be certain to pass
    for _ in range(4):
        consumer.ask(*names)
    before = counted.count
    assert consumer.kept.held > len("".join(names))
    assert consumer.talk.connection.held > consumer.kept.held
    consumer.kept.let_go()
    assert consumer.kept.held == 0
    for _ in range(4):
        consumer.ask(*names)
    assert counted.count == before + 2, "two of them are read once more"


def mutated(frame: bytes, dice: random.Random) -> bytes:
    """The same with some bytes changed, its length kept."""
    made = bytearray(frame)
    for _ in range(dice.randint(1, 3)):
        made[dice.randrange(18, len(made))] = dice.choice((0, 1, 2, 5, 115, 255))
    return bytes(made)


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (produce(9, "mine", transactional_id="mine"), 9),
        (produce(9, "mine", "more"), 9),
        (produce(3, "mine", "more"), 3),
        (fetch(12, "mine", "more"), 12),
        (fetch(17, "mine"), 17),
        (fetch(4, "mine", "more"), 4),
    ],
)
def test_what_passes_unread_would_pass_read(rules: Making, request_: Request, version: int) -> None:
    """Frames like one that passed, with some bytes changed: a connection that never saw that one is of one mind."""
    own = rules("acls: [{allow: User:alice, to: [Read, Write], topics: [mine, more], transactional_ids: mine}]")
    own.acl.names.learn([type("Topic", (), {"name": "mine", "topic_id": topic_id("mine")})])
    dice = random.Random(version)
    frame = request_frame(request_, version, 1, "app")
    knowing = Talk(own.acl)
    for _ in range(3):
        knowing.send(frame, request_.api, version)
    (known,) = (key for key in knowing.connection.samples if isinstance(key, TopicsFastPath))
    outcomes = set()
    for _ in range(150):
        changed = mutated(frame, dice)
        api = request_.api.key << 16 | version
        passes = known.passes(knowing.connection, api, memoryview(changed), len(changed)) is not None
        outcomes.add(passes)
        if passes:
            commands = from_client(Talk(own.acl).link, bytearray(changed))
            assert [command for command in commands if isinstance(command, ToBroker | Close)], changed.hex()
            assert not [command for command in commands if isinstance(command, ToClient)], changed.hex()
            told = [command.event for command in commands if isinstance(command, Emit)]
            assert not [event for event in told if not isinstance(event, Undecodable)], changed.hex()
    assert outcomes == {False, True}


def told_errors(answer: Any) -> list[int]:
    return [part.error_code for each in answer.responses for part in each.partition_responses]
