"""Several workers, each a process, count together."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
import trio

from plugins.faults import Faults
from proxy.config import Config, PluginUse
from proxy.net import workers as module
from proxy.net.channel import Settings
from proxy.net.workers import Workers
from proxy.protocol.errors import ErrorCode
from rules.chance import chance
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of
from tests.proxy.net.test_workers import pids, running, tasks

LONG = 120.0  # seconds: four processes start here
SEED = 7
FAULTS = f"""
seed: {SEED}
faults:
  - {{name: three, match: {{api: Heartbeat}}, when: {{times: 3, for: 1h}}, do: {{error: REBALANCE_IN_PROGRESS}}}}
  - {{name: chance, match: {{api: Heartbeat}}, when: {{probability: 0.3}}, do: {{error: UNKNOWN_MEMBER_ID}}}}
  - {{name: nth, match: {{api: Heartbeat}}, when: {{after_rule: three, nth: 50}}, do: {{error: ILLEGAL_GENERATION}}}}
"""


@pytest.fixture
async def broker(nursery) -> Broker:  # type: ignore[no-untyped-def]  # pytest-trio has no types
    broker = Broker()
    await nursery.start(broker.serve)
    return broker


class Fleet:
    """Four workers in front of a broker, and the faults that they do."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.folder = folder
        self.config = self.with_faults(configuration(broker.endpoint, workers=4), "faults.yaml", FAULTS)
        self.workers = Workers(Settings(self.config, 0, "json", False), tasks())

    def with_faults(self, config: Config, name: str, text: str) -> Config:
        """The same configuration, with the faults of this file."""
        file = self.folder / name
        file.write_text(text)
        use = PluginUse("faults", Faults, Faults.Options(rules=str(file)))
        return config.model_copy(update={"plugins": (use,)})

    async def errors(self, clients: int) -> Counter[str]:
        """What so many clients are told, all of which ask at once."""
        said: Counter[str] = Counter()
        there = trio.Event()
        waiting = []

        async def ask() -> None:
            async with connected(LOOPBACK, port_of(self.config, 1)) as client:
                waiting.append(client)
                if len(waiting) == clients:
                    there.set()
                await there.wait()
                said[ErrorCode(await client.beat()).name] += 1

        async with trio.open_nursery() as nursery:
            for _ in range(clients):
                nursery.start_soon(ask)
        return said


def expected(first: int, last: int) -> dict[str, int]:
    """How often `chance` fires at these matches."""
    drawn = [chance(SEED, "chance", number, "fires") < 0.3 for number in range(first, last + 1)]
    return {"UNKNOWN_MEMBER_ID": sum(drawn)}


async def test_three_times_means_three_in_total_whatever_becomes_of_the_workers(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr("tests.proxy.net.test_workers.LONG", LONG)
    fleet = Fleet(broker, tmp_path)
    async with running(fleet.workers):
        said = await fleet.errors(40)
        assert said["REBALANCE_IN_PROGRESS"] == 3
        assert {"UNKNOWN_MEMBER_ID": said["UNKNOWN_MEMBER_ID"]} == expected(1, 37)
        assert said["NONE"] == 40 - 3 - said["UNKNOWN_MEMBER_ID"]
        passed = said["NONE"]  # which the last fault counts, all but those before the first was done

        before = await pids(fleet.workers)
        os.kill(before[0], signal.SIGKILL)
        with trio.fail_after(LONG):
            while (await pids(fleet.workers)).get(0) in (before[0], None):
                await trio.sleep(0)
            while not (await fleet.workers.reports())[0].ready:
                await trio.sleep(0)
        said = await fleet.errors(40)
        assert said["REBALANCE_IN_PROGRESS"] == 0
        assert {"UNKNOWN_MEMBER_ID": said["UNKNOWN_MEMBER_ID"]} == expected(38, 77)
        assert said["ILLEGAL_GENERATION"] == (passed + said["NONE"] >= 50)

        more = f"{FAULTS}  - {{match: {{api: Produce}}, do: hold}}\n"
        await fleet.workers.apply(fleet.with_faults(fleet.config, "more.yaml", more))
        said = await fleet.errors(20)
        assert said["REBALANCE_IN_PROGRESS"] == 0
        assert {"UNKNOWN_MEMBER_ID": said["UNKNOWN_MEMBER_ID"]} == expected(78, 97)
