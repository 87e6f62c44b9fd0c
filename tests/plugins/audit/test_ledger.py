"""Real clients, a journal and a ledger of their requests: each request has one event, with the right outcome.

This is a short run; `DOORKEEPER_LEDGER=100000 pytest tests/plugins/audit/test_ledger.py` is the long one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from confluent_kafka import Producer

from plugins.audit.verify import verify
from proxy.cli.demo.stage import addresses
from tests.plugins.audit.audited import KEYS, SECONDS, audited, work
from tests.plugins.audit.ledger import Entry, Frames, LedgerPage, compare

REQUESTS = int(os.environ.get("DOORKEEPER_LEDGER", "1000"))
FAULTS = """\
seed: 7
faults:
  - {name: slow, match: {api: [Produce, Fetch, Metadata]}, when: {probability: 0.02}, do: {delay: 5ms}}
  - {name: no, match: {api: Produce}, when: {probability: 0.02}, do: {error: NOT_ENOUGH_REPLICAS}}
  - {name: gone, match: {api: [Produce, Fetch]}, when: {probability: 0.005}, do: {disconnect: before_broker}}
  - {name: lost-ack, match: {api: Produce}, when: {probability: 0.005}, do: {disconnect: after_broker}}
  - {name: busy, match: {api: Fetch}, when: {probability: 0.02}, do: {throttle: 10ms}}
  - {name: nothing, match: {api: Fetch}, when: {probability: 0.02}, do: empty}
"""
TOLD = {
    "kind": "request",
    "instance": "a",
    "worker": 0,
    "connection": 1,
    "client_port": 7,
    "api": "Produce",
    "api_version": 9,
    "outcome": "answered",
}
FRAMES = ((1, 0), (2, 50), (3, 7))  # the number and the size of each


@pytest.fixture(scope="module")
def brokers() -> Iterator[dict[int, str]]:
    """Those of librdkafka's mock cluster, which lives as long as this client."""
    cluster = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 2, "log_level": 0})
    yield addresses(cluster)
    del cluster


def test_each_request_is_told_once_with_its_outcome(tmp_path: Path, brokers: dict[int, str]) -> None:
    with audited(tmp_path, brokers) as there:
        work(there, REQUESTS)
        came = there.compared()
    assert sum(came.both.values()) > REQUESTS
    assert not came.only_journal
    assert not came.only_ledger
    assert not came.other_outcome


def test_faults_at_random_are_told_right_too(tmp_path: Path, brokers: dict[int, str]) -> None:
    """What the proxy never read, since it ended the connection before, is in the ledger alone, and has no answer.

    Every kind of fault is tried on real brokers: `tests/real/test_audit.py`.
    """
    (tmp_path / "faults.yaml").write_text(FAULTS)
    with audited(tmp_path, brokers, more="  - faults: {rules: faults.yaml}\n") as there:
        work(there, REQUESTS)
        came = there.compared()
    assert sum(came.both.values()) > REQUESTS
    assert not came.only_journal
    assert not any(entry.answered for entry in came.only_ledger)
    assert not came.other_outcome
    assert verify(there.journal).is_intact


def test_a_killed_worker_loses_only_what_came_last_and_the_gap_is_told(tmp_path: Path, brokers: dict[int, str]) -> None:
    """Nothing is lost before something that is not. How much comes last is a matter of `test_killed.py`."""
    with audited(tmp_path, brokers, workers=2) as there:
        work(there, REQUESTS // 2)
        producer = Producer({**there.settings, "batch.num.messages": 1, "linger.ms": 0, "retry.backoff.ms": 20})
        for number in range(REQUESTS):
            producer.produce("orders", b"%d" % number)
        producer.poll(0.2)
        workers = children(there.program.pid)
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        assert producer.flush(SECONDS) == 0
        came = there.compared()
    assert not came.only_journal
    assert not came.holes
    verified = verify(there.journal)
    assert verified.is_intact
    assert sum("its writer was killed after it" in remark.what for remark in verified.remarks) == len(workers)


def children(pid: int) -> list[int]:
    """The processes that this one began."""
    return [
        int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()
    ]


def test_the_ledger_finds_what_a_journal_lacks_or_has_twice() -> None:
    page = LedgerPage([Entry(0, 9, 1, True), Entry(0, 9, 2, True), Entry(0, 9, 3), Entry(0, 9, 4, True)])
    events = [TOLD | {"correlation_id": number} for number in (1, 1, 3)]
    came = compare({7: [page]}, events, KEYS)
    assert [entry.number for entry in came.only_ledger] == [2, 4]
    assert [entry.number for entry in came.holes] == [2]
    assert came.only_journal == {(7, 0, 9, 1): 1}
    assert came.other_outcome == [((7, 0, 9, 3), "answered")]


def test_an_answer_may_be_missing_on_the_page_of_a_client_that_reset_its_connection() -> None:
    page = LedgerPage([Entry(0, 9, 1), Entry(0, 9, 2, True)])
    page.reading(lambda data: None)(b"")
    events = [TOLD | {"correlation_id": 1}, TOLD | {"correlation_id": 2, "outcome": "client gone"}]
    assert compare({7: [page]}, events, KEYS).other_outcome == [((7, 0, 9, 2), "client gone")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_connections_that_come_from_one_port_are_told_apart(order: tuple[int, ...]) -> None:
    numbers = [1, 2], [1, 2, 3, 4], [1]
    pages = [LedgerPage([Entry(0, 9, number, True) for number in each]) for each in numbers]
    pages[2].entries[0].answered = False
    outcomes = {0: "answered", 1: "answered", 2: "failed"}
    events = [
        TOLD | {"connection": index, "correlation_id": number, "outcome": outcomes[index]}
        for index in order
        for number in numbers[index]
    ]
    came = compare({7: pages}, events, KEYS)
    assert (came.both.total(), came.only_ledger, came.only_journal, came.other_outcome) == (7, [], {}, [])
    came = compare({7: pages[1:]}, events, KEYS)
    assert came.only_journal, "there is a connection too many in the journal"


def test_frames_are_found_however_a_stream_is_cut() -> None:
    frames = [(8 + size).to_bytes(4) + b"\0\0\0\t" + number.to_bytes(4) + b"x" * size for number, size in FRAMES]
    stream = b"".join(frames)
    for step in (1, 3, 1000):
        begun: list[bytes] = []
        ended: list[bytes] = []
        reader = Frames(12, begun=begun.append, ended=ended.append)
        for start in range(0, len(stream), step):
            reader.read(stream[start : start + step])
        assert begun == [frame[:12] for frame in frames]
        assert ended == frames


def test_requests_that_the_proxy_never_read_do_not_make_a_page_another_connections() -> None:
    told = [1], [1, 2], [22, 23, 24, 25, 26, 27, 28, 29]
    sent = list(range(1, 40, 2)), *told[1:]  # the proxy ended the first connection after its first request
    pages = [
        LedgerPage([Entry(0, 9, number, number in numbers) for number in each])
        for each, numbers in zip(sent, told, strict=True)
    ]
    events = [
        TOLD | {"connection": index, "correlation_id": number}
        for index, numbers in enumerate(told)
        for number in numbers
    ]
    came = compare({7: pages}, events, KEYS)
    assert (came.both.total(), came.only_journal, came.other_outcome) == (11, {}, [])
    assert [entry.number for entry in came.only_ledger] == sent[0][1:]
