"""Plugins of several workers accept a state together, and a worker that starts later has it."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.net import workers as module
from proxy.net.channel import Settings
from proxy.net.workers import Workers
from tests.proxy.net.scripted import Broker, configuration
from tests.proxy.net.test_workers import LONG, pids, running, tasks

HOLD = {"name": "held", "match": {"api": "Produce"}, "do": "hold"}


def state(*faults: dict[str, Any]) -> dict[str, Any]:
    return {"seed": None, "generation": 0, "faults": list(faults)}


def two(broker: Broker) -> Workers:
    config = configuration(broker.endpoint, workers=2, plugins=[{"faults": {}}])
    return Workers(Settings(config, 0, "json", False), tasks())


async def held(workers: Workers) -> dict[int, list[list[str]]]:
    """The names of the faults that each worker has."""
    answers = await workers.states.query("faults", "faults", {"names": None})
    return {worker: [list(each["counts"]) for each in of_worker] for worker, of_worker in answers.items()}


async def test_all_workers_have_it_when_it_is_changed_and_so_has_one_that_begins_later(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    with capture_logs():
        async with running(workers):
            assert await held(workers) == {0: [[]], 1: [[]]}
            await workers.states.change("faults", state(HOLD))
            assert await held(workers) == {0: [["held"]], 1: [["held"]]}
            before = await pids(workers)
            os.kill(before[0], signal.SIGKILL)
            with trio.fail_after(LONG):
                while (await pids(workers)).get(0) in (before[0], None) or not (await workers.reports())[0].ready:
                    await trio.sleep(0)
            assert await held(workers) == {0: [["held"]], 1: [["held"]]}
            other = workers.config.model_copy(
                update={"limits": workers.config.limits.model_copy(update={"connections": 7})}
            )
            await workers.apply(other)
            assert await held(workers) == {0: [["held"]], 1: [["held"]]}
            assert workers.states.of("faults") == state(HOLD)


async def test_what_one_worker_cannot_take_none_has(broker: Broker) -> None:
    workers = two(broker)
    with capture_logs():
        async with running(workers):
            await workers.states.change("faults", state(HOLD))
            with pytest.raises(StateError) as refused:
                await workers.states.change("faults", state(HOLD, {"name": "new", "do": "hld"}))
            (finding,) = refused.value.findings
            assert (finding.path, finding.message) == (
                ("faults", 1, "do"),
                'unknown effect "hld"; did you mean "hold"?',
            )
            with pytest.raises(NoPluginError):
                await workers.states.change("acl", {})
            with pytest.raises(NoPluginError):
                await workers.states.query("acl", "what", {})
            assert await held(workers) == {0: [["held"]], 1: [["held"]]}


async def test_without_a_worker_nothing_is_taken_since_nobody_says_whether_it_is_right(broker: Broker) -> None:
    workers = two(broker)
    with pytest.raises(NotTakenError, match="no worker is there"):
        await workers.states.change("faults", state({"name": "new", "do": "hld"}))
    assert workers.states.of("faults") is None


async def test_a_worker_that_hangs_is_replaced_by_one_that_has_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.net.child.CHANGE_WITHIN", 1.0)
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    with capture_logs() as logs:
        async with running(workers):
            before = await pids(workers)
            os.kill(before[0], signal.SIGSTOP)
            await workers.states.change("faults", state(HOLD))
            with trio.fail_after(LONG):
                while (await pids(workers)).get(0) in (before[0], None) or not (await workers.reports())[0].ready:
                    await trio.sleep(0)
            assert await held(workers) == {0: [["held"]], 1: [["held"]]}
    assert [line["worker"] for line in logs if line["event"] == "worker replaced"] == [0]
