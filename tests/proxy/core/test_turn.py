"""Turns: a connection with much work, in small pieces or at once, lets others run in between; no other is held up."""

from typing import Any

from proxy.core.allowance import Allowance
from proxy.core.commands import Close, Command, PauseClient, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Context
from proxy.core.decisions import TURN, Ask, Decision, Forward, Reply, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.filters import Filters
from proxy.core.limits import Counters, Limits
from proxy.core.link import Link
from proxy.core.outbox import Outbox
from proxy.core.plugin import Plugin
from proxy.core.request_heads import READ
from proxy.core.turn import ENOUGH, HANDLED, UNANSWERED, Turn, WaitingLanes
from proxy.core.waiting import WaitingTasks
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.slices import FEW, LARGE, LARGE_REQUEST, LIGHT
from proxy.protocol.tally import compiled
from proxy.testing import (
    ClientCloses,
    FromBroker,
    FromClient,
    Playbook,
    Time,
    connection,
    from_broker,
    from_client,
)
from proxy.testing.lending import with_turns
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, metadata, produce

MANY = 3_000


class Refusing(Plugin):
    """Answers every Heartbeat itself."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return Reply(HeartbeatResponse(error_code=1))


class Patient(Plugin):
    """Gives others a turn before it lets a Heartbeat pass."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield TURN
        return None


class Topics(Plugin):
    """Handles Metadata as the test says."""

    def __init__(self, do: Any, answer: Any = None) -> None:
        self.do, self.answer = do, answer

    @on_request(MetadataRequest)
    def metadata(self, ctx: Context, request: MetadataRequest) -> Decision:
        decision: Decision = self.do(request)
        return decision

    @on_response(MetadataResponse, fields="topics")
    def answered(self, ctx: Context, response: MetadataResponse) -> Decision:
        decision: Decision = self.answer and self.answer(response)
        return decision


class Looking(Plugin):
    """Asks the broker for all topics before a Heartbeat may pass."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        self.seen.append((yield Ask(MetadataRequest(topics=None), 4)))
        return None


def large_request(number: int, count: int = MANY) -> bytes:
    topics = [MetadataRequest.Topic(name=f"a-topic-with-a-name-{i}") for i in range(count)]
    return asking(MetadataRequest(topics=topics), number)


def large_answer(number: int) -> bytes:
    topics = [MetadataResponse.Topic(error_code=0, name=f"topic-{i}", partitions=[]) for i in range(MANY)]
    return answering(MetadataResponse(brokers=[], topics=topics), number)


def sent(commands: list[Command], kind: type[ToBroker] | type[ToClient]) -> bytes:
    return b"".join(bytes(command.data) for command in commands if isinstance(command, kind))


def test_a_handler_may_let_the_others_have_their_turn() -> None:
    assert (
        Playbook(Patient())
        >> FromClient(heartbeat(1) + heartbeat(2))
        << Wake(0, 0)
        << PauseClient()
        >> Time()
        << ToBroker(heartbeat(1))
        << Wake(0, 0)
        >> Time()
        << ToBroker(heartbeat(2))
        << ResumeClient()
    )


def test_after_much_in_small_requests_the_others_have_their_turn() -> None:
    count = 2 + (ENOUGH - 1) // HANDLED
    frames, answers = map(heartbeat, range(count)), (heartbeat_answer(number, 1) for number in range(count))
    first = b"".join(answer for answer, _ in zip(answers, range(count - 1), strict=False))
    assert (
        Playbook(Refusing(), byte_by_byte=False)
        >> FromClient(b"".join(frames))
        << ToClient(first)
        << Wake(0, 0)
        << PauseClient()
        >> Time()
        << ToClient(heartbeat_answer(count - 1, 1))
        << ResumeClient()
    )


def test_the_more_lanes_wait_for_their_turn_the_shorter_it_is() -> None:
    allowance, requests = Allowance(), b"".join(map(heartbeat, range(900)))

    def begin() -> tuple[Link, list[Command]]:
        """A link that waits for its turn, and what it did before."""
        link = Link(connection(), Filters([Refusing()]), allowance=allowance)
        return link, from_client(link, bytearray(requests))

    def handled(done: list[Command]) -> int:
        return len(sent(done, ToClient)) // len(heartbeat_answer(0, 1))

    def in_turn(link: Link, waiting: list[Command]) -> int:
        """How many requests this link handles in its turn."""
        (wake,) = (command for command in waiting if isinstance(command, Wake))
        return handled(link.wake(wake.token))

    (first, alone), (second, beside_one), (third, beside_two) = begin(), begin(), begin()
    assert handled(alone) > 20
    assert handled(beside_one) == handled(beside_two) == 0, "they wait for their turn too"
    assert abs(in_turn(second, beside_one) - handled(alone) / 3) <= 1
    second.release(None)
    assert abs(in_turn(third, beside_two) - handled(alone) / 2) <= 1
    for link in (first, third):
        link.release(None)
    fourth, after_their_end = begin()
    assert abs(in_turn(fourth, after_their_end) - handled(alone)) <= 1


def test_many_clients_at_the_same_moment_do_no_more_than_one_before_the_others_have_their_turn() -> None:
    filters, allowance, now, waiting = Filters([Refusing()]), Allowance(), 0, 0
    for number in range(MANY):
        link = Link(connection(), filters, allowance=allowance)
        done = from_client(link, bytearray(heartbeat(number)))
        now += len(sent(done, ToClient)) > 0
        waiting += any(isinstance(command, Wake) for command in done)
    header = READ + 1  # with the byte that says how many tagged fields it has
    assert now == 1 + (ENOUGH - 1 - header) // (HANDLED + header)
    assert waiting == MANY - now


def test_however_many_lanes_wait_each_does_something_in_its_turn() -> None:
    waiting, outbox = WaitingLanes(), Outbox()
    lanes = [Turn(WaitingTasks(outbox), waiting) for _ in range(ENOUGH + 500)]
    for lane in lanes:
        lane.end()
    done = 0
    for lane in lanes:
        lane.go_on(None)
        done += lane.allows(HANDLED)
        lane.end()
    assert done == len(lanes)


def test_at_each_look_at_the_sockets_work_is_counted_anew() -> None:
    waiting, outbox = WaitingLanes(), Outbox()
    one, another = (Turn(WaitingTasks(outbox), waiting) for _ in range(2))
    for _ in range(3):
        waiting.begin_look()
        one.count(ENOUGH)
        assert one.is_spent
        assert not another.is_spent
    waiting.begin_look()
    assert one.allows(ENOUGH)
    assert not another.allows(HANDLED), "both together did enough since this look"


def test_a_small_request_full_of_elements_is_a_turn_of_its_own() -> None:
    link = Link(connection(), Filters([Topics(lambda request: None)]))
    topics = [MetadataRequest.Topic(name="t")] * FEW
    requests = [asking(MetadataRequest(topics=topics), number) for number in range(5)]
    assert len(requests[0]) < LARGE_REQUEST
    first, turns = with_turns(link, from_client(link, bytearray(b"".join(requests))))
    assert (sent(first, ToBroker), turns) == (b"".join(requests), 4)


def test_a_request_of_less_than_4_kib_is_judged_in_slices_if_it_has_many_elements() -> None:
    link = Link(connection(), Filters([Topics(lambda request: None)]))
    request = asking(MetadataRequest(topics=[MetadataRequest.Topic(name="t")] * 1_000), 1)
    assert len(request) < LARGE
    done, turns = with_turns(link, from_client(link, bytearray(request)))
    assert turns > 1
    assert sent(done, ToBroker) == request


def test_what_nobody_wants_is_no_work() -> None:
    link = Link(connection(), Filters())
    done, turns = with_turns(link, from_client(link, bytearray(b"".join(map(heartbeat, range(900))))))
    assert turns == 0
    assert len(sent(done, ToBroker)) == 900 * len(heartbeat(0))


def test_of_requests_that_pass_without_an_answer_only_so_many_are_taken_in_one_turn() -> None:
    frames = b"".join(produce(number, acks=0) for number in range(5_000))
    filters = Filters()
    link = Link(connection(), filters)
    first = from_client(link, bytearray(frames))
    assert len(sent(first, ToBroker)) // len(produce(0, acks=0)) == ENOUGH // UNANSWERED
    done, turns = with_turns(link, first)
    assert turns == 5_000 * UNANSWERED // ENOUGH - 1
    assert sent(done, ToBroker) == frames
    assert filters.counts() == {("Produce", 9): 5_000}


def test_a_request_is_counted_once_also_where_the_others_go_first() -> None:
    routes = Filters([Refusing()])
    link = Link(connection(), routes)
    _, turns = with_turns(link, from_client(link, bytearray(b"".join(map(heartbeat, range(900))))))
    assert turns > 5
    assert routes.counts() == {("Heartbeat", 4): 900}


def test_after_much_in_small_answers_the_others_have_their_turn_and_none_is_lost() -> None:
    class Answers(Plugin):
        @on_response(HeartbeatResponse)
        def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Decision:
            response.error_code = 27
            return Forward(response)

    link = Link(connection(), Filters([Answers()]))
    from_client(link, bytearray(b"".join(map(heartbeat, range(300)))))
    done, turns = with_turns(link, from_broker(link, bytearray(b"".join(map(heartbeat_answer, range(300))))))
    assert turns >= 4
    assert sent(done, ToClient) == b"".join(heartbeat_answer(number, 27) for number in range(300))
    assert link.responses.idle


def test_a_large_request_is_read_judged_and_rewritten_in_slices() -> None:
    def halved(request: MetadataRequest) -> Decision:
        assert request.topics is not None
        request.topics = request.topics[: MANY // 2]
        return Forward(request)

    for do, passes in ((lambda request: None, large_request(1)), (halved, None)):
        link = Link(connection(), Filters([Topics(do)]))
        done, turns = with_turns(link, from_client(link, bytearray(large_request(1) + heartbeat(2))))
        assert turns > 4
        wanted = passes or large_request(1, MANY // 2)
        assert sent(done, ToBroker) == wanted + heartbeat(2)


def test_a_large_request_in_pieces_is_assembled_without_another_copy() -> None:
    link = Link(connection(), Filters([Topics(lambda request: None)]))
    data = bytearray(large_request(1))
    from_client(link, data[:1000])
    done, turns = with_turns(link, from_client(link, data[1000:]))
    assert turns > 4
    assert sent(done, ToBroker) == large_request(1)


def test_a_large_request_is_answered_in_slices() -> None:
    def all_refused(request: MetadataRequest) -> Decision:
        topics = [
            MetadataResponse.Topic(error_code=29, name=topic.name, partitions=[]) for topic in request.topics or ()
        ]
        return Reply(MetadataResponse(brokers=[], topics=topics))

    link = Link(connection(), Filters([Topics(all_refused)]))
    done, turns = with_turns(link, from_client(link, bytearray(large_request(7))))
    assert turns > 5
    assert sent(done, ToClient)[:8] == (len(sent(done, ToClient)) - 4).to_bytes(4) + (7).to_bytes(4)


def test_what_a_handler_cannot_judge_is_refused_in_slices() -> None:
    def boom(request: MetadataRequest) -> Decision:
        raise ValueError("boom")

    counters = Counters()
    link = Link(connection(), Filters([Topics(boom)]), counters=counters)
    done, turns = with_turns(link, from_client(link, bytearray(large_request(1))))
    assert turns > 10
    assert counters.failed_handlers == 1
    assert len(sent(done, ToClient)) > MANY * 20
    assert not sent(done, ToBroker)


def test_what_cannot_be_read_of_a_large_request_ends_it() -> None:
    counters = Counters()
    link = Link(connection(), Filters([Topics(lambda request: None)]), counters=counters)
    frame = bytearray(large_request(1)[:-10])
    frame[:4] = (len(frame) - 4).to_bytes(4)
    done, turns = with_turns(link, from_client(link, frame))
    assert turns > 4
    (close,) = [command for command in done if isinstance(command, Close)]
    assert "cannot be read" in str(close.reason)
    assert counters.undecodable == 1
    assert not sent(done, ToBroker)


def test_more_elements_than_the_limit_end_the_connection_and_are_counted() -> None:
    counters = Counters()
    link = Link(connection(), Filters([Topics(lambda request: None)]), Limits(elements=MANY - 1), counters)
    done, _ = with_turns(link, from_client(link, bytearray(large_request(1))))
    (close,) = [command for command in done if isinstance(command, Close)]
    assert close.reason == (
        "the client sent a request that the proxy will not read: "
        "Metadata request v4: has more than 2,999 elements (limits.elements)"
    )
    assert counters.too_many_elements == 1
    assert not sent(done, ToBroker)


def test_a_large_answer_is_read_and_rewritten_in_slices() -> None:
    def none(response: MetadataResponse) -> Decision:
        del response.topics[1:]
        return Forward(response)

    for answer in (None, none):
        link = Link(connection(), Filters([Topics(lambda request: None, answer)]))
        from_client(link, bytearray(metadata(1) + heartbeat(2)))
        done, turns = with_turns(link, from_broker(link, bytearray(large_answer(1) + heartbeat_answer(2))))
        assert turns > 1
        got = sent(done, ToClient)
        assert got.endswith(heartbeat_answer(2))
        assert (got == large_answer(1) + heartbeat_answer(2)) == (answer is None)


def test_more_elements_of_an_answer_than_the_limit_end_the_connection() -> None:
    counters = Counters()
    link = Link(connection(), Filters([Topics(lambda request: None)]), Limits(elements=MANY // 2 - 1), counters)
    from_client(link, bytearray(metadata(1)))
    done, _ = with_turns(link, from_broker(link, bytearray(large_answer(1))))
    assert [type(command) for command in done if not isinstance(command, ToClient)][-1] is Close
    assert counters.too_many_elements == 1
    assert not sent(done, ToClient)


def test_an_answer_of_which_only_little_is_wanted_is_read_at_once() -> None:
    topics = [MetadataResponse.Topic(error_code=0, name=f"t-{n}", is_internal=False, partitions=[]) for n in range(900)]
    answer = answering(MetadataResponse(brokers=[], controller_id=1, topics=topics), 1, 9)
    read = []

    class Looking(Plugin):
        @on_response(MetadataResponse, fields="brokers")
        def metadata(self, ctx: Context, response: MetadataResponse) -> None:
            read.append(ctx.is_large)

    assert LARGE < len(answer) < LIGHT
    request = asking(MetadataRequest(topics=None), 1, 9)
    assert (
        Playbook(Looking(), byte_by_byte=False)
        >> FromClient(request)
        << ToBroker(request)
        >> FromBroker(answer)
        << ToClient(answer)
    )
    assert read == [compiled is None]


def test_a_large_answer_to_a_question_of_ours_is_read_in_slices() -> None:
    looking = Looking()
    link = Link(connection(), Filters([looking]))
    done, _ = with_turns(link, from_client(link, bytearray(heartbeat(1))))
    done, turns = with_turns(link, from_broker(link, bytearray(large_answer(0))))
    assert turns > 1
    (answer,) = looking.seen
    assert len(answer.topics) == MANY
    assert sent(done, ToBroker) == heartbeat(1)


def test_a_client_that_is_gone_leaves_no_work_behind() -> None:
    judged: list[Any] = []
    link = Link(connection(), Filters([Topics(judged.append)]))
    commands = from_client(link, bytearray(large_request(1)))
    link.broker_closed()
    done, _ = with_turns(link, commands)
    assert not judged
    assert not sent(done, ToBroker)


def test_a_client_that_leaves_while_the_others_have_their_turn_gets_its_answers() -> None:
    assert (
        Playbook(Patient())
        >> FromClient(heartbeat(1))
        << Wake(0, 0)
        << PauseClient()
        >> ClientCloses()
        >> Time()
        << ToBroker(heartbeat(1))
        << ResumeClient()
    )


def test_the_frames_of_these_tests_are_large() -> None:
    assert min(len(large_request(1)), len(large_answer(1))) > LARGE
