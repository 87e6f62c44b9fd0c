"""Complaints: the first at once, the others counted."""

import trio
import trio.testing

from proxy.net.complaints import EVERY, MOST, Complaints


async def test_the_first_is_told_at_once_and_the_next_after_a_while_with_their_number(
    autojump_clock: trio.testing.MockClock,
) -> None:
    complaints = Complaints()
    assert complaints.due("broker 1") == {}
    assert [complaints.due("broker 1") for _ in range(3)] == [None, None, None]
    await trio.sleep(EVERY)
    assert complaints.due("broker 1") == {"and_before": 3}
    await trio.sleep(EVERY)
    assert complaints.due("broker 1") == {}


async def test_each_thing_is_complained_about_by_itself() -> None:
    complaints = Complaints()
    assert complaints.due(("refused", 1)) == {}
    assert complaints.due(("refused", 2)) == {}
    assert complaints.due(("refused", 1)) is None


async def test_what_was_told_longest_ago_is_forgotten_before_the_memory_is_full() -> None:
    complaints = Complaints()
    assert all(complaints.due(name) == {} for name in range(MOST))
    assert complaints.due(0) is None
    assert complaints.due(MOST) == {}
    assert complaints.due(1) is None
    assert complaints.due(0) == {}
