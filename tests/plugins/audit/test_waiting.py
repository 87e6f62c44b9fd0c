"""Many responses wait for the disk, with one thread; each is woken once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from plugins.audit import journal as journals
from plugins.audit.journal import Journal, JournalError
from plugins.audit.waiting import WaitingAnswers
from proxy.plugin import Call, Wait
from proxy.testing import FakeClock
from tests.plugins.audit.written import START, full_disk
from tests.proxy.net.scripted import LOOPBACK, Broker, Client, configuration, connected, port_of, serving

MANY = 10_000
PATIENCE = 10.0
WAITING = 60
SECONDS = 30.0


class Waits:
    """A link that waits, as the reactor drives it."""

    def __init__(self, answers: WaitingAnswers, journal: Journal) -> None:
        journal.put("request", START, {})
        self._steps = answers.until_on_disk(journal.events)
        self.steps = 0
        self.state: Any = None
        self.go_on()

    def go_on(self, _: Any = None) -> None:
        try:
            self.state = next(self._steps)
            self.steps += 1
            if isinstance(self.state, Wait):
                self.state.signal.on_release(self, Waits.go_on)
        except StopIteration:
            self.state = "left"
        except JournalError:
            self.state = "ended"

    def close(self) -> None:
        self._steps.close()
        self.state = "gone"


@pytest.fixture
def journal(tmp_path: Path, clock: FakeClock) -> Iterator[Journal]:
    journal = Journal(tmp_path / "journal", tmp_path / "key", "a", 0, lambda *told, **facts: None, clock)
    journal.open()
    yield journal
    journal.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def come(journal: Journal, clock: FakeClock) -> Callable[[], Waits]:
    answers = WaitingAnswers(journal, clock, PATIENCE)
    return lambda: Waits(answers, journal)


def test_one_looks_and_all_that_are_on_disk_leave_with_it(come: Callable[[], Waits], journal: Journal) -> None:
    all_ = [come() for _ in range(MANY)]
    assert [type(one.state) for one in all_[:2]] == [Call, Wait]
    journal.work()
    later = come()
    all_[0].go_on()
    assert {one.state for one in all_} == {"left"}
    assert max(one.steps for one in all_) == 1, "each is woken once"
    assert isinstance(later.state, Call), "the next one looks"


def test_with_a_full_disk_each_ends_when_its_own_patience_is_over(
    come: Callable[[], Waits], journal: Journal, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "AGAIN", 0.0)
    first, second = come(), come()
    clock.now += 1.0
    third = come()
    with full_disk(tmp_path):
        journal.work()
        first.go_on()
        assert isinstance(first.state, Call)
        clock.now += PATIENCE - 1.0
        first.go_on()
        assert [first.state, second.state, type(third.state)] == ["ended", "ended", Call]
        assert journal.is_refused
    clock.now += 0.5
    journal.work()
    third.go_on()
    assert third.state == "left", "there was room in time"


def test_who_leads_and_is_gone_is_followed_by_the_oldest(come: Callable[[], Waits], journal: Journal) -> None:
    first, second, third = come(), come(), come()
    second.close()
    first.close()
    assert isinstance(third.state, Call)
    journal.work()
    third.go_on()
    assert third.state == "left"


def test_whose_event_is_on_disk_already_does_not_wait(journal: Journal, clock: FakeClock) -> None:
    journal.put("request", START, {})
    journal.work()
    steps = WaitingAnswers(journal, clock, PATIENCE).until_on_disk(1)
    with suppress(StopIteration):
        raise AssertionError(next(steps))


async def test_those_who_wait_for_a_full_disk_take_one_thread_together(nursery, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """More real clients wait than there are threads; all are answered when there is room again."""
    broker = Broker()
    await nursery.start(broker.serve)
    options = {"journal": str(tmp_path / "journal"), "policy": "required", "patience": "60s"}
    config = configuration(broker.endpoint, plugins=[{"audit": options}])
    threads = trio.to_thread.current_default_thread_limiter()
    answered = 0

    async def ask(client: Client) -> None:
        nonlocal answered
        assert await client.beat() == 0
        answered += 1

    async with serving(config), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(LOOPBACK, port_of(config))) for _ in range(WAITING)]
        for client in clients:
            assert await client.beat() == 0
        async with trio.open_nursery() as asking:
            with full_disk(tmp_path), trio.fail_after(SECONDS):
                for client in clients:
                    asking.start_soon(ask, client)
                while sum(api == "Heartbeat" for api, _ in broker.asked) < 2 * WAITING:
                    await trio.lowlevel.checkpoint()
                for _ in range(threads.total_tokens):
                    await trio.to_thread.run_sync(int)
                assert threads.borrowed_tokens <= 1
                assert answered == 0
        assert answered == WAITING
