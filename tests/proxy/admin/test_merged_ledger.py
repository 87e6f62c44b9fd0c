"""The ledgers of several workers are merged into one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from proxy.admin import merged_ledger
from proxy.admin.merged_ledger import AT_ONCE, KEPT, LIVES, MergedLedger
from proxy.admin.problems import HttpError
from proxy.core.state import NotTakenError


class Ledgers:
    """What each of two workers noted, by its times."""

    def __init__(self) -> None:
        self.times: list[list[float]] = [[], []]
        self.asked = 0

    async def query(self, question: str, said: Mapping[str, Any]) -> dict[int, list[Any]]:
        self.asked += 1
        return {worker: [self._answer(f"life {worker}", times, said)] for worker, times in enumerate(self.times)}

    def _answer(self, life: str, times: list[float], said: Mapping[str, Any]) -> dict[str, Any]:
        after = said["after"].get(life, 0)
        found = times[after : after + said["limit"]]
        return {"life": life, "after": after + len(found), "entries": [{"time": it, "connection": 7} for it in found]}


async def test_entries_are_numbered_in_the_order_of_their_times_as_they_are_gathered() -> None:
    ledgers = Ledgers()
    merged = MergedLedger(ledgers.query)
    ledgers.times = [[1.0, 4.0], [2.0, 3.0]]
    page = await merged.page(0, 3, 0.0)
    assert [(it["number"], it["time"], it["connection"]) for it in page["entries"]] == [
        (1, 1.0, "0-7"),
        (2, 2.0, "1-7"),
        (3, 3.0, "1-7"),
    ]
    ledgers.times[1].append(3.5)  # it comes late
    rest = await merged.page(page["next"], 3, 0.0)
    assert [(it["number"], it["time"]) for it in rest["entries"]] == [(4, 4.0), (5, 3.5)]
    assert await merged.page(5, 3, 0.0) == {"entries": [], "next": 5}


async def test_a_first_entry_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    ledgers = Ledgers()
    merged = MergedLedger(ledgers.query)
    async with trio.open_nursery() as nursery:
        pages: list[dict[str, Any]] = []

        async def wait() -> None:
            pages.append(await merged.page(0, 3, 30.0))

        nursery.start_soon(wait)
        await trio.sleep(5)
        assert not pages
        ledgers.times[0].append(1.0)
    assert [it["number"] for it in pages[0]["entries"]] == [1]
    assert trio.current_time() < 6


async def test_readers_beyond_some_do_not_wait(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merged_ledger, "WAITING", 2)
    merged = MergedLedger(Ledgers().query)
    refused: list[HttpError] = []

    async def read(wait: float) -> None:
        try:
            assert await merged.page(0, 3, wait) == {"entries": [], "next": 0}
        except HttpError as error:
            refused.append(error)

    async with trio.open_nursery() as nursery:
        for wait in (30.0, 30.0, 30.0, 0.0):
            nursery.start_soon(read, wait)
    assert [(error.status, error.headers) for error in refused] == [(503, {"retry-after": "1"})]
    await read(1.0)
    assert len(refused) == 1, "those who waited are gone"


async def test_those_who_wait_together_ask_the_workers_as_often_as_one(autojump_clock: trio.testing.MockClock) -> None:
    ledgers = Ledgers()
    merged = MergedLedger(ledgers.query)
    pages: list[dict[str, Any]] = []

    async def wait() -> None:
        pages.append(await merged.page(0, 3, 30.0))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(wait)
        await trio.sleep(5)
        ledgers.times[0].append(1.0)
    assert [[it["time"] for it in page["entries"]] for page in pages] == [[1.0]] * 50
    assert ledgers.asked < 50 + 2 * 5 / merged_ledger.LOOKS


async def test_it_begins_anew_and_numbers_go_on() -> None:
    ledgers = Ledgers()
    merged = MergedLedger(ledgers.query)
    ledgers.times[0] = [1.0, 2.0]
    await merged.page(0, 9, 0.0)

    async def reset() -> None:
        ledgers.times[0] = [1.0, 2.0, 3.0]

    await merged.begin_anew(reset)
    assert [it["number"] for it in (await merged.page(0, 9, 0.0))["entries"]] == [3]


async def test_what_was_read_stays_where_the_next_question_fails() -> None:
    ledgers = Ledgers()
    asked: list[int] = []

    async def query(question: str, said: Mapping[str, Any]) -> dict[int, list[Any]]:
        asked.append(said["limit"])
        if len(asked) == 2:
            raise NotTakenError("no worker answers")
        return await ledgers.query(question, said)

    merged = MergedLedger(query)
    ledgers.times[0] = [float(at) for at in range(AT_ONCE + 1)]
    with pytest.raises(NotTakenError):
        await merged.page(0, 1, 0.0)
    entries = (await merged.page(0, KEPT, 0.0))["entries"]
    assert [it["time"] for it in entries] == ledgers.times[0]


async def test_a_worker_that_lives_long_is_not_read_again_after_the_deaths_of_many_others() -> None:
    numbers = count()

    async def query(question: str, said: Mapping[str, Any]) -> dict[int, list[Any]]:
        lasting = [{"time": 1.0, "connection": 7}][said["after"].get("long", 0) :]
        return {
            0: [{"life": "long", "after": 1, "entries": lasting}],
            1: [{"life": f"short {next(numbers)}", "after": 0, "entries": []}],
        }

    merged = MergedLedger(query)
    for _ in range(LIVES + 1):
        page = await merged.page(0, 9, 0.0)
    assert len(page["entries"]) == 1


async def test_only_the_last_are_kept() -> None:
    ledgers = Ledgers()
    merged = MergedLedger(ledgers.query)
    ledgers.times[0] = [float(at) for at in range(KEPT + AT_ONCE)]
    await merged.page(0, 1, 0.0)
    assert [it["number"] for it in (await merged.page(0, 1, 0.0))["entries"]] == [AT_ONCE + 1]
