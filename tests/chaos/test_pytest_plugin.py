"""The pytest plugin in third-party projects: its fixtures, and its messages."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.chaos.strangers import SECONDS, Stranger

MARKED = """
import pytest
from confluent_kafka import Producer


def produce(bootstrap, topic="orders"):
    told = []
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "retry.backoff.ms": 50})
    producer.produce(topic, b"order", on_delivery=lambda error, message: told.append(error))
    assert producer.flush(20) == 0
    return told[0]

"""


def project(folder: Path, tests: str) -> Path:
    """A project with these tests."""
    (folder / "test_it.py").write_text(MARKED + tests)
    return folder


NEXT = """
def test_leaves_a_fault_behind(kafka_faults):
    fault = kafka_faults.on("Produce").reply("MESSAGE_TOO_LARGE").start()
    assert produce(kafka_faults.bootstrap) is not None
    assert (fault.fired, fault.matched) == (1, 1)
    kafka_faults.history.client("producer")


def test_begins_anew(kafka_faults):
    assert produce(kafka_faults.bootstrap) is None
    assert kafka_faults.ledger == []
    assert kafka_faults.history.clients == []
    again = kafka_faults.on("Produce").reply("MESSAGE_TOO_LARGE").start()
    assert produce(kafka_faults.bootstrap) is not None
    assert again.fired == 1
"""


def test_each_test_begins_without_faults(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, NEXT))
    assert "2 passed" in result.stdout, result.stdout + result.stderr


HELD = """
import pytest


@pytest.fixture
def producer(kafka_faults):
    producer = Producer({"bootstrap.servers": kafka_faults.bootstrap, "log_level": 0})
    yield producer
    assert producer.flush(10) == 0, "it still waits for what the fault holds"


def hold(kafka_faults, producer):
    held = kafka_faults.on("Produce").hold().start()
    producer.produce("orders", b"order")
    held.wait_for()


def test_fails(kafka_faults, producer):
    hold(kafka_faults, producer)
    assert False, "on purpose"


def test_passes(kafka_faults, producer):
    hold(kafka_faults, producer)
"""


def test_nothing_is_held_any_more_when_the_fixtures_of_a_test_end(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, HELD))
    assert "1 failed, 1 passed" in result.stdout, result.stdout + result.stderr
    assert "error" not in result.stdout.splitlines()[-1]


UNFIRED = """
def test_block(kafka_faults):
    with kafka_faults.on("Produce", topic="ordres").disconnect():
        produce(kafka_faults.bootstrap)


def test_started(kafka_faults):
    kafka_faults.on("Heartbeat").disconnect().start()


@pytest.mark.kafka_faults(strict=False)
def test_is_not_strict(kafka_faults):
    kafka_faults.on("Heartbeat").disconnect().start()


def test_need_not(kafka_faults):
    with kafka_faults.on("Heartbeat").disconnect().optional() as fault:
        pass
    assert fault.fired == 0
"""


OF_A_FIXTURE = """
import pytest


@pytest.fixture
def lost(kafka_faults):
    with kafka_faults.on("Heartbeat").disconnect() as fault:
        yield fault


def test_never(lost):
    pass


@pytest.mark.xfail(strict=True)
def test_is_known_to_fail(lost):
    pass
"""


def test_a_fault_of_a_fixture_that_never_fires_fails_its_test_once(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, OF_A_FIXTURE))
    assert "1 failed, 1 xfailed in" in result.stdout, result.stdout + result.stderr


def test_a_fault_that_never_fires_fails_its_test(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, UNFIRED))
    assert "2 failed, 2 passed" in result.stdout, result.stdout + result.stderr
    assert "never fired; the fault is Produce-disconnect: {match: {api: Produce, topic: ordres}" in result.stdout
    assert 'topic is "orders", not "ordres"' in result.stdout
    assert "never fired; the fault is Heartbeat-disconnect" in result.stdout
    assert "no request came near" in result.stdout


WRONG = """
def test_wrong(kafka_faults):
    kafka_faults.inject({"match": {"api": "Prodduce"}, "do": "hold"})


def test_nothing(kafka_faults):
    with kafka_faults.on("Produce"):
        pass


def test_twice(kafka_faults):
    kafka_faults.on("Produce").drop().hold()


def test_side(kafka_faults):
    kafka_faults.on("Produce").before_broker().drop().start()


@pytest.mark.kafka_faults(sead=7)
def test_marker(kafka_faults):
    pass


@pytest.mark.kafka_faults(bootstrap="127.0.0.1:1")
def test_nobody(kafka_faults):
    pass
"""


def test_what_is_wrong_is_told_with_a_way_out(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, WRONG))
    assert "4 failed, 2 errors" in result.stdout, result.stdout + result.stderr
    assert "this fault does nothing; say what happens" in result.stdout
    assert "one fault has one effect, and this one has drop" in result.stdout
    assert "drop is done after_broker alone" in result.stdout
    assert "chaos/fixture" not in result.stdout  # of each the line of the test is shown
    assert 'unknown api "Prodduce"; did you mean "Produce"?' in result.stdout
    assert "the marker kafka_faults has no 'sead'; it has seed, strict," in result.stdout
    assert "the proxy in front of 127.0.0.1:1 found no brokers within 10 s" in result.stdout


ELSEWHERE = """
import pytest


@pytest.fixture
def shop(kafka_faults):
    with kafka_faults.on("Produce", topic="one").reply("MESSAGE_TOO_LARGE").named("before"):
        assert produce(kafka_faults.bootstrap, "one") is None


def test_before(shop):
    pass


@pytest.fixture
def till(kafka_faults):
    yield
    with kafka_faults.on("Produce", topic="two").reply("MESSAGE_TOO_LARGE").named("after"):
        assert produce(kafka_faults.bootstrap, "two") is None


def test_after(till):
    pass


def test_a_fault_that_another_waits_for(kafka_faults):
    with kafka_faults.on("Produce").reply("NOT_LEADER_OR_FOLLOWER").named("one").times(1) as one:
        kafka_faults.on("Produce").after_rule(one).delay(uniform={"from": 0.001, "to": 0.01}).named("two").start()
        assert produce(kafka_faults.bootstrap) is None
"""


def test_what_fails_in_another_fixture_or_at_the_end_of_a_block_is_told_as_well(
    tmp_path: Path, stranger: Stranger
) -> None:
    result = stranger.tests(project(tmp_path, ELSEWHERE))
    assert "1 failed, 1 passed, 2 errors" in result.stdout, result.stdout + result.stderr
    assert " before  fired: Produce" in result.stdout
    assert " after  fired: Produce" in result.stdout
    assert '"two" waits for "one"; remove that first' in result.stdout
    assert "chaos/" not in result.stdout


PARALLEL = """
@pytest.mark.parametrize("number", range(6))
def test_of_its_own(kafka_faults, number):
    with kafka_faults.on("Produce").after_broker().disconnect().times(2) as lost:
        assert produce(kafka_faults.bootstrap, f"topic-{number}") is None
    assert lost.fired == 2
"""


def test_tests_run_in_parallel(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, PARALLEL), "-n", "2", "--dist", "each")
    assert "12 passed" in result.stdout, result.stdout + result.stderr


WORKERS = """
@pytest.mark.kafka_faults(workers=2, brokers=1)
def test_workers(kafka_faults):
    with kafka_faults.on("Produce").reply("MESSAGE_TOO_LARGE").times(3) as large:
        refused = [produce(kafka_faults.bootstrap) is not None for _ in range(6)]
    assert refused == [True] * 3 + [False] * 3
    assert (large.fired, large.matched) == (3, 6)
"""


def test_several_workers_count_together(tmp_path: Path, stranger: Stranger) -> None:
    result = stranger.tests(project(tmp_path, WORKERS))
    assert "1 passed" in result.stdout, result.stdout + result.stderr


HANGING = """
import signal


def test_hangs(kafka_faults):
    print("up", flush=True)
    signal.pause()
"""


def test_nothing_is_left_when_a_run_is_killed(tmp_path: Path, stranger: Stranger) -> None:
    command = [str(stranger.python), "-m", "pytest", "-s", "-p", "no:cacheprovider", str(project(tmp_path, HANGING))]
    marked = stranger.environment | {"MARK": str(tmp_path)}
    with subprocess.Popen(command, env=marked, stdout=subprocess.PIPE) as run, ExitStack() as closing:
        assert run.stdout is not None
        assert any(line.endswith(b"up\n") for line in run.stdout)
        children = [os.pidfd_open(pid) for pid in started_with(tmp_path) - {run.pid}]
        for child in children:
            closing.callback(os.close, child)
        assert len(children) >= 2  # the proxy and the brokers
        run.send_signal(signal.SIGKILL)
        for child in children:
            ended, _, _ = select.select([child], [], [], SECONDS)
            assert ended


def started_with(mark: Path) -> set[int]:
    """The processes whose environment says this mark."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if f"MARK={mark}\0".encode() in (process / "environ").read_bytes():
                found.add(int(process.name))
    return found
