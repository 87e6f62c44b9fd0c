"""A worker as its supervisor sees it."""

from __future__ import annotations

import socket

import trio
from structlog.testing import capture_logs

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.channel import Learned, Lines, Settings, read, written
from proxy.net.child import Child, Preparation
from proxy.net.complaints import Complaints
from proxy.net.keeping import KeptFiles
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from proxy.telemetry.report import Report
from proxy.text.problems import Finding
from tests.proxy.net.scripted import Broker, configuration

NONSENSE = [
    b"",
    b"nonsense",
    b"[" * 100_000,
    b"7",
    b"{}",
    b'{"learned": 7}',
    b'{"learned": ["main", "7", "kafka", 9092]}',
    b'{"learned": ["main", 7, "a..b", 9092]}',
    b'{"learned": ["main", -7, "kafka", 9092]}',
    b'{"ready": {"nonsense": 1}}',
    b'{"report": 7}',
    b'{"in_force": 7}',
    b'{"in_force": {"acl.yaml": 7}}',
]
LONG = 60.0  # seconds


def settings() -> Settings:
    return Settings(configuration(Endpoint("kafka", 9092), port=9192), 0, "json", False)


async def test_a_worker_that_says_nonsense_is_heard_again_when_it_makes_sense(
    broker: Broker, nursery: trio.Nursery
) -> None:
    ours, theirs = socket.socketpair()
    heard: list[Learned] = []
    kept = Tasks(NetworkCounters(), Complaints())
    with ours, theirs:
        child = Child(None, Lines(ours), kept, settings())  # type: ignore[arg-type]  # no process
        nursery.start_soon(child.listen, lambda: None, heard.append, KeptFiles())
        for line in NONSENSE:
            theirs.sendall(line + b"\n")
        theirs.sendall(b'{"learned": ["main", 7, "kafka", 9092]}\n')
        with trio.fail_after(LONG), capture_logs() as logs:
            while not heard:
                await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert heard == [Learned("main", 7, "kafka", 9092)]
    assert kept.counters.failed_tasks == len(NONSENSE)
    assert logs


async def test_one_that_prepares_and_takes_says_so_and_one_that_is_gone_says_nothing(nursery: trio.Nursery) -> None:
    kept, after = Tasks(NetworkCounters(), Complaints()), settings()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = Child(None, Lines(ours), kept, settings())  # type: ignore[arg-type]  # no process
        child.told.set()
        worker = Lines(theirs)
        nursery.start_soon(child.listen, lambda: None, lambda learned: None, KeptFiles())
        seen: list[Config] = []

        async def answer() -> None:
            line = await worker.receive()
            assert line is not None
            seen.append(read(line["config"]))
            await worker.send({"prepared": 6, "problems": ["late"]})
            await worker.send({"prepared": 7, "problems": []})
            assert await worker.receive() == {"take": 7}
            await worker.send({"taken": 7, "report": Report(ready=True).as_json()})
            theirs.close()

        nursery.start_soon(answer)
        with trio.fail_after(LONG):
            change = {"config": written(after.config)}
            assert await child.prepare(7, change) == Preparation([], [])
            assert await child.take(7, after)
            assert seen == [after.config]
            assert child.settings is after
            assert child.ready == Report(ready=True)
            assert await child.prepare(8, change) is None
            assert not await child.take(8, after)


async def test_what_is_wrong_in_a_state_is_told_by_its_path(nursery: trio.Nursery) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = Child(None, Lines(ours), Tasks(NetworkCounters(), Complaints()), settings())  # type: ignore[arg-type]
        child.told.set()
        nursery.start_soon(child.listen, lambda: None, lambda learned: None, KeptFiles())
        theirs.sendall(b'{"prepared": 1, "problems": [], "findings": [[["faults", 0, "do"], "no such effect"]]}\n')
        with trio.fail_after(LONG):
            preparation = await child.prepare(1, {"plugin": "faults", "state": {}})
        nursery.cancel_scope.cancel()
    assert preparation == Preparation([], [Finding(("faults", 0, "do"), "no such effect")])


async def test_answers_find_the_questions_that_they_belong_to(nursery: trio.Nursery) -> None:
    ours, theirs = socket.socketpair()
    answers: dict[str, object] = {}
    with ours, theirs:
        child = Child(None, Lines(ours), Tasks(NetworkCounters(), Complaints()), settings())  # type: ignore[arg-type]
        child.told.set()
        nursery.start_soon(child.listen, lambda: None, lambda learned: None, KeptFiles())
        worker = Lines(theirs)

        async def ask(question: str) -> None:
            answers[question] = await child.query({"plugin": "faults", "question": question, "said": {}})

        with trio.fail_after(LONG):
            async with trio.open_nursery() as asking:
                for question in ("one", "two", "three"):
                    asking.start_soon(ask, question)
                lines = [await worker.receive() for _ in range(3)]
                for line in reversed(lines[:2]):
                    assert line is not None
                    await worker.send({"answered": line["query"], "answers": f'["{line["question"]}"]'})
                theirs.shutdown(socket.SHUT_RDWR)
        asked = [line["question"] for line in lines if line is not None]
    assert answers == {asked[0]: [asked[0]], asked[1]: [asked[1]], asked[2]: None}
