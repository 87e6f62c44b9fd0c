"""Several workers in front of brokers with authentication: what one worker learns of the brokers, all know."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.real.ports import accepts, free_block
from tests.real.records import patiently
from tests.real.secured.clients import CLIENTS, As
from tests.real.secured.cluster import PASSWORDS, SecuredCluster
from tests.real.secured.guarding import FREE_PORTS, HOST, START, Proxy

pytestmark = pytest.mark.real

VALUES = [b"%d" % number for number in range(20)]
PYTHON = ("librdkafka", "kafka-python", "aiokafka")


def test_clients_work_whichever_worker_they_come_to_and_after_one_died(tmp_path: Path, secured: SecuredCluster) -> None:
    port = free_block(FREE_PORTS, HOST)
    clusters = {"main": {"bootstrap": secured.at("SASL").split(",")}}
    listeners = {"clients": {"cluster": "main", "bind": f"{HOST}:{port}"}}
    who = As(f"{HOST}:{port}", "SCRAM-SHA-256", "alice", PASSWORDS["alice"])
    with Proxy(tmp_path, {"clusters": clusters, "listeners": listeners, "workers": 2}) as proxy:
        assert proxy.told('"brokers not discovered"')
        with ThreadPoolExecutor() as together:
            outcomes = together.map(lambda name: CLIENTS[name](who, f"alice-workers-{name}", VALUES), PYTHON)
        assert [sorted(outcome) for outcome in outcomes] == [sorted(VALUES)] * len(PYTHON)
        for worker in workers(proxy.program.pid):
            with proxy.tells('"worker died"'):
                os.kill(worker, signal.SIGKILL)
        for _ in patiently("the brokers' ports are open again, and no client came", START):
            if accepts((HOST, port + 1 + number) for number in secured.brokers):
                break
        assert sorted(CLIENTS["aiokafka"](who, "alice-workers-again", VALUES)) == sorted(VALUES)


def workers(pid: int) -> list[int]:
    """The children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
