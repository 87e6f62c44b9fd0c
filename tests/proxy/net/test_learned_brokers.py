from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import trio
import trio.testing

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.channel import Learned, Lines
from proxy.net.child import Child
from proxy.net.complaints import Complaints
from proxy.net.learned_brokers import LearnedBrokers
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import configuration

MAIN = configuration(Endpoint("kafka", 9092), port=9192, limits={"brokers": 3})
OTHER = Config.model_validate(
    {
        "clusters": {"other": {"bootstrap": ["kafka:9092"]}},
        "listeners": {"clients": {"cluster": "other", "bind": "127.0.0.1:9192"}},
    }
)


class Supervised:
    """Workers as their supervisor has them, which hear what they are told."""

    def __init__(self, nursery: trio.Nursery, around: ExitStack) -> None:
        self.config = MAIN
        self._nursery, self._around = nursery, around
        self._children: dict[int, Child] = {}
        self._ends: dict[int, socket.socket] = {}
        self.learned = LearnedBrokers(self._children, lambda: self.config)

    def begin(self, worker: int) -> None:
        ours, theirs = map(self._around.enter_context, socket.socketpair())
        child = Child(None, Lines(ours), Tasks(NetworkCounters(), Complaints()))  # type: ignore[arg-type]  # no process
        self._children[worker], self._ends[worker] = child, theirs
        self._nursery.start_soon(child.outbox.run)

    async def heard(self, worker: int) -> list[int]:
        """The node ids that this worker was told since it was last asked."""
        await trio.testing.wait_all_tasks_blocked()
        try:
            lines = self._ends[worker].recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        return [json.loads(line)["learned"][1] for line in lines.splitlines()]


@pytest.fixture
def workers(nursery: trio.Nursery) -> Iterator[Supervised]:
    with ExitStack() as around:
        yield Supervised(nursery, around)


def main(node_id: int) -> Learned:
    return Learned("main", node_id, "kafka", 9092)


async def test_what_one_worker_learned_the_others_are_told_once(workers: Supervised) -> None:
    workers.begin(0)
    workers.begin(1)
    workers.learned.spread(0, main(7))
    assert (await workers.heard(0), await workers.heard(1)) == ([], [7])
    workers.learned.spread(1, main(7))
    assert (await workers.heard(0), await workers.heard(1)) == ([], [])


async def test_a_worker_that_gets_ready_later_is_told_what_is_remembered_and_that_is_bounded(
    workers: Supervised,
) -> None:
    for node_id in range(100):
        workers.learned.spread(0, main(node_id))
        workers.learned.spread(0, Learned(f"another {node_id}", 1, "kafka", 9092))
    workers.begin(1)
    workers.learned.tell(1)
    assert await workers.heard(1) == [97, 98, 99]


async def test_brokers_of_a_cluster_that_is_gone_are_forgotten(workers: Supervised) -> None:
    workers.begin(1)
    workers.learned.spread(0, main(7))
    assert await workers.heard(1) == [7]
    workers.config = OTHER
    workers.learned.forget_gone()
    workers.learned.spread(0, main(8))
    workers.learned.tell(1)
    assert await workers.heard(1) == []
