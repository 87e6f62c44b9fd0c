"""What is pending of a request: how its frame leaves is said once, and each frame has its own way."""

from __future__ import annotations

from plugins.faults.pending import PendingFaults, ended
from proxy.core.decisions import Cut, Disconnect, Reply
from proxy.protocol.messages.produce import ProduceResponse
from rules.match import Subject
from tests.plugins.faults.changed import effect_of

CUT, DELAY = effect_of("cut: 8"), effect_of("delay: 1s")


def test_nothing_is_pending_until_somebody_says_so() -> None:
    pending = PendingFaults(Subject())
    assert not pending
    pending.to_answer.append(lambda answer: None)
    assert pending


def test_how_a_frame_leaves_is_said_once() -> None:
    pending = PendingFaults(Subject())
    assert pending.cannot(CUT) is None
    pending.leaves("one", Cut(8, "cut"))
    assert pending.cannot(CUT) == '"one" says already how the frame leaves'
    assert pending.cannot(DELAY) is None


def test_the_answer_is_another_frame() -> None:
    pending = PendingFaults(Subject())
    pending.leaves("one", Cut(8, "cut"))
    assert pending.take_leaving() == Cut(8, "cut")
    pending.next_frame()
    assert (pending.take_leaving(), pending.cannot(CUT)) == (None, None)


def test_it_is_said_who_ended_it() -> None:
    assert ended("one", Reply(ProduceResponse(responses=[]))) == '"one" answers it'
    assert ended("one", Disconnect("gone")) == '"one" ends the connection'


def test_one_that_is_sent_twice_leaves_in_no_other_way_and_its_answer_may() -> None:
    pending = PendingFaults(Subject())
    pending.leaves("one", None)
    assert pending.cannot(CUT) == '"one" says already how the frame leaves'
    assert pending.take_leaving() is None
    pending.next_frame()
    assert pending.cannot(CUT) is None
