"""Calls that compute for long: addresses and links have their turns, and links that are over leave nothing."""

from __future__ import annotations

from functools import partial

from proxy.net.long_calls import LongCalls


class Noted(LongCalls[int]):
    """Its calls note their links in `done`."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[int] = []

    def note(self, address: str, link: int) -> bool:
        return self.add(address, link, partial(self.done.append, link))


def test_addresses_have_their_turns_however_many_calls_wait_for_them() -> None:
    calls = Noted()
    for link in range(5):
        calls.note("attacker", link)
    calls.note("alice", 10)
    calls.note("bob", 20)
    calls.make_all()
    assert calls.done == [0, 10, 20, 1, 2, 3, 4]


def test_links_of_one_address_have_their_turns() -> None:
    calls = Noted()
    for link in (1, 1, 1, 2):
        calls.note("a", link)
    calls.make_all()
    assert calls.done == [1, 2, 1, 1]


def test_one_thread_at_a_time_is_asked_for() -> None:
    calls = Noted()
    assert [calls.note("a", 1), calls.note("b", 2)] == [True, False]
    calls.make_all()
    assert calls.note("a", 1)


def test_a_call_that_comes_while_another_is_made_is_made_too() -> None:
    calls = Noted()
    calls.add("a", 1, lambda: calls.done.append(calls.note("b", 2)))
    calls.make_all()
    assert calls.done == [False, 2]


def test_calls_of_a_link_that_is_over_are_dropped() -> None:
    calls = Noted()
    for address, link in (("a", 1), ("a", 2), ("b", 3)):
        calls.note(address, link)
    calls.forget("a", 1)
    calls.forget("b", 3)
    calls.forget("b", 3)
    calls.forget("c", 4)
    calls.make_all()
    assert calls.done == [2]


def test_all_calls_can_be_dropped() -> None:
    calls = Noted()
    calls.note("a", 1)
    calls.clear()
    calls.make_all()
    assert not calls.done
