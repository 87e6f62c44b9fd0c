"""Allowance: all links together decode only a few large messages at a time; small messages do not wait for them."""

from collections.abc import Generator
from typing import Any

import pytest

from proxy.core.allowance import ALLOWED, Allowance, Permits
from proxy.core.commands import Await, Command, ToBroker, Wake
from proxy.core.context import Context
from proxy.core.decisions import TURN, Call, Decision, Forward, Sleep, Steps, Wait
from proxy.core.decorators import on_request
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.testing import connection, from_client
from proxy.testing.lending import with_turns
from tests.proxy.core.frames import asking

HALF = ALLOWED // 2 + 1  # two of these are too much


class Work:
    """A message that is being handled: `step` is its current step."""

    def __init__(
        self, allowance: Allowance, size: int, *steps: Any, host: str = "one", is_response: bool = False
    ) -> None:
        self.ended = False
        self._steps = allowance.within(size, self._of(steps), host, is_response=is_response)
        self.step = self._steps.send(None)

    def _of(self, steps: tuple[Any, ...]) -> Generator[Any, Any, str]:
        try:
            yield from steps
        finally:
            self.ended = True
        return "done"

    @property
    def waits(self) -> bool:
        """Does it wait for a permit?"""
        return isinstance(self.step, Wait) and not self.step.signal.is_released

    def go_on(self) -> Any:
        """The next step, or the result."""
        try:
            self.step = self._steps.send(None)
        except StopIteration as end:
            return end.value
        return self.step

    def drop(self) -> None:
        self._steps.close()


def done(*works: Work) -> list[Work]:
    """The order in which these are done: one of them has a permit at a time."""
    order: list[Work] = []
    waiting = list(works)
    while waiting:
        (next_one,) = [work for work in waiting if not work.waits]
        waiting.remove(next_one)
        order.append(next_one)
        next_one.go_on()
        next_one.go_on()
    return order


def test_what_is_over_the_allowance_waits_until_the_first_is_done() -> None:
    allowance = Allowance()
    first, second = Work(allowance, HALF, TURN), Work(allowance, HALF, TURN)
    assert not first.waits
    assert second.waits
    assert first.go_on() == "done"
    assert not second.waits
    assert second.go_on() is TURN


def test_as_many_are_read_at_once_as_the_allowance_has_room_for() -> None:
    allowance = Allowance()
    works = [Work(allowance, ALLOWED // 4, TURN) for _ in range(5)]  # keeps all of them from the garbage collector
    assert [work.waits for work in works] == [False] * 4 + [True]


def test_what_is_larger_than_the_allowance_is_alone() -> None:
    allowance = Allowance()
    first, second = Work(allowance, 4 * ALLOWED, TURN), Work(allowance, 4 * ALLOWED, TURN)
    assert (first.waits, second.waits) == (False, True)


def test_nothing_waits_for_what_is_much_larger_or_smaller() -> None:
    allowance = Allowance()
    assert not any(Work(allowance, size, TURN).waits for size in (HALF, 8 * HALF, 64 * HALF, HALF // 8))


def test_requests_and_responses_have_their_places_in_turn() -> None:
    allowance = Allowance()
    first = Work(allowance, HALF, TURN)
    requests = [Work(allowance, HALF, TURN) for _ in range(2)]
    responses = [Work(allowance, HALF, TURN, is_response=True) for _ in range(2)]
    first.go_on()
    assert done(*requests, *responses) == [requests[0], responses[0], requests[1], responses[1]]


def test_many_messages_of_one_host_do_not_keep_those_of_others_waiting() -> None:
    allowance = Allowance()
    first = Work(allowance, HALF, TURN)
    many = [Work(allowance, HALF, TURN) for _ in range(9)]
    other, third = Work(allowance, HALF, TURN, host="other"), Work(allowance, HALF, TURN, host="third")
    many[0].drop()
    first.go_on()
    assert done(*many[1:], other, third)[:4] == [many[1], other, third, many[2]]


def test_a_host_whose_last_message_is_dropped_waits_for_nothing() -> None:
    allowance = Allowance()
    first, dropped, last = (Work(allowance, HALF, TURN, host=host) for host in ("one", "other", "third"))
    dropped.drop()
    first.go_on()
    assert not last.waits


def test_a_place_is_given_up_where_something_else_than_a_turn_is_waited_for() -> None:
    allowance = Allowance()
    first = Work(allowance, HALF, TURN, Sleep(3_600), TURN)
    second = Work(allowance, HALF, TURN)
    assert second.waits
    first.go_on()
    assert not second.waits
    third = Work(allowance, HALF, TURN)
    first.go_on()
    assert first.go_on() == "done"
    assert third.waits  # the permit is for the second, and not again for the first


def test_a_link_that_ends_gives_up_its_place() -> None:
    allowance = Allowance()
    first, second = Work(allowance, HALF, TURN), Work(allowance, HALF, TURN)
    first.drop()
    assert first.ended
    assert not second.waits


def test_a_link_that_ends_in_the_line_takes_no_place() -> None:
    allowance = Allowance()
    first = Work(allowance, HALF, TURN)
    leaving = [Work(allowance, HALF, TURN, is_response=response) for response in (False, True)]
    last = Work(allowance, HALF, TURN)
    for work in leaving:
        work.drop()
    first.go_on()
    assert not last.waits


def test_a_place_is_left_once() -> None:
    permits = Permits()
    first, second, third = (permits.ask(HALF, ("one", False)) for _ in range(3))
    for _ in range(3):
        permits.give_up(first)
    assert second.given.is_released
    assert not third.given.is_released


def test_what_is_thrown_into_a_step_reaches_the_handler() -> None:
    caught: list[Exception] = []

    def handler() -> Generator[Any, Any, str]:
        try:
            yield Call(int)
        except OSError as error:
            caught.append(error)
        return "done"

    steps = Allowance().within(HALF, handler(), "one", is_response=False)
    next(steps)
    error = OSError("full")
    with pytest.raises(StopIteration, match="done"):
        steps.throw(error)
    assert caught == [error]


class Noting(Plugin):
    """Keeps large notes about a request, and gives turns to others."""

    @on_request(MetadataRequest)
    def metadata(self, ctx: Context, request: MetadataRequest) -> Steps:
        ctx.notes["topics"] = request.topics
        yield TURN
        decision: Decision = Forward(request)
        return decision


MANY = MetadataRequest(topics=[MetadataRequest.Topic(name=f"topic-{n:010}") for n in range(20_000)])  # over one half


def _large(link: Link, number: int) -> list[Command]:
    return from_client(link, asking(MANY, number, 4))


def test_links_of_one_worker_wait_for_each_other() -> None:
    allowance = Allowance()
    one, two = (Link(connection(), Filters([Noting()]), allowance=allowance) for _ in range(2))
    first, second = _large(one, 1), _large(two, 1)
    (turn,) = [command for command in second if isinstance(command, Wake)]
    (waiting,) = [command for command in two.wake(turn.token) if isinstance(command, Await)]
    assert not waiting.signal.is_released
    done, _ = with_turns(one, first)
    assert any(isinstance(command, ToBroker) for command in done)
    assert waiting.signal.is_released
    done, _ = with_turns(two, two.wake(waiting.token))
    assert any(isinstance(command, ToBroker) for command in done)


def test_a_request_that_was_read_is_kept_by_what_waits_for_its_answer_alone() -> None:
    link = Link(connection(), Filters([Noting()]))
    with_turns(link, _large(link, 1))
    (slot,) = link.inflight.slots
    notes = slot[2].notes
    link.inflight.slots.clear()
    holding = [lane for lane in (link.requests, link.responses) if any(notes is each for each in _notes(lane))]
    assert not holding


def _notes(lane: Any) -> list[Any]:
    met = lane._met or ()
    return [part.notes for part in met if isinstance(part, Context)]
