"""All workers count in the same rows, and a worker that dies does not block the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from proxy.net import shared_rows
from proxy.net.shared_rows import FileLock, SharedTable, shared_file
from tests.real.jars import CHECKOUT

FIRST = (5.0, 0.0, 0.0)


@pytest.fixture
def file() -> Iterator[IO[bytes]]:
    with shared_file() as file:
        yield file


def test_all_of_the_file_is_there_before_anybody_counts(file: IO[bytes]) -> None:
    assert os.fstat(file.fileno()).st_blocks * 512 >= shared_rows.SIZE


def test_workers_share_the_rows_of_a_plugin_by_its_keys(file: IO[bytes]) -> None:
    one, other = (SharedTable(file.fileno(), worker).of("main faults") for worker in range(2))
    rows = one.use(["a", "b"], FIRST)
    rows["a"][1] += 3
    assert list(other.use(["b", "a"], (99.0,))["a"]) == [5.0, 3.0, 0.0]
    assert list(other.use(["a"], FIRST)["a"]) == [5.0, 3.0, 0.0]
    assert list(SharedTable(file.fileno(), 2).of("other faults").use(["a"], FIRST)["a"]) == [5.0, 0.0, 0.0]


def test_what_no_worker_uses_any_more_begins_anew(file: IO[bytes]) -> None:
    one, other = (SharedTable(file.fileno(), worker).of("main faults") for worker in range(2))
    one.use(["a"], FIRST)["a"][1] = 3
    other.use(["a"], FIRST)
    one.use([], FIRST)
    assert one.use(["a"], FIRST)["a"][1] == 3  # the other used it still
    for each in (one, other):
        each.use([], FIRST)
    assert one.use(["a"], FIRST)["a"][1] == 0


def test_a_worker_in_the_place_of_another_goes_on_and_lets_go_of_what_that_used(file: IO[bytes]) -> None:
    before = SharedTable(file.fileno(), 3).of("main faults")
    before.use(["stays", "goes"], FIRST)["stays"][1] = 3
    after = SharedTable(file.fileno(), 3).of("main faults")
    assert after.use(["stays"], FIRST)["stays"][1] == 3
    after.use(["stays", "goes"], (7.0,))
    assert list(after.use(["stays", "goes"], FIRST)["goes"]) == [7.0, 0.0, 0.0]


def test_what_a_plugin_uses_is_kept_for_it_while_another_of_its_name_is_made() -> None:
    table = SharedTable()
    before = table.of("main faults")
    before.use(["a"], FIRST)["a"][1] = 3
    after = table.of("main faults")
    after.use(["b"], FIRST)
    assert after.use(["a"], FIRST)["a"][1] == 3
    assert before.used


def test_what_finds_no_row_is_counted_apart(file: IO[bytes]) -> None:
    keys = [str(number) for number in range(shared_rows.ROWS + 1)]
    one, other = (SharedTable(file.fileno(), worker).of("main faults") for worker in range(2))
    for rows in (one.use(keys, FIRST), other.use(keys, FIRST)):
        rows[keys[0]][1] += 1
        rows[keys[-1]][1] += 1
    assert (rows[keys[0]][1], rows[keys[-1]][1]) == (2, 1)


def test_what_is_counted_apart_goes_on_at_the_next_change() -> None:
    keys = [str(number) for number in range(shared_rows.ROWS + 1)]
    rows = SharedTable().of("main faults")
    rows.use(keys, FIRST)[keys[-1]][1] += 1
    assert rows.use(keys, FIRST)[keys[-1]][1] == 1
    assert rows.use(keys[-1:], FIRST)[keys[-1]][1] == 1  # in a row
    assert rows.use(keys[-1:], FIRST)[keys[-1]][1] == 1


def test_a_lock_that_cannot_be_had_is_not_held(tmp_path: Path) -> None:
    file = (tmp_path / "file").open("w+b")
    lock = FileLock(file.fileno())
    file.close()
    for _ in range(2):  # the second would wait for ever
        with pytest.raises(OSError, match="Bad file descriptor"):
            lock.__enter__()


WORKER = """
import sys
from proxy.net.shared_rows import SharedTable
plugin = SharedTable(int(sys.argv[1]), int(sys.argv[2])).of("main faults")
row = plugin.use(["a"], (0.0, 0.0, 0.0))["a"]
for _ in range(int(sys.argv[3])):
    with plugin.alone:
        row[1] += 1
if sys.argv[3] == "1":
    plugin.alone.__enter__()
    row[1] += 1
    print("alone", flush=True)
    sys.stdin.read()
"""


def worker(file: IO[bytes], number: int, times: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, *map(str, (file.fileno(), number, times))]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(
        command, pass_fds=[file.fileno()], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_no_count_is_lost_where_several_processes_count_at_once(file: IO[bytes]) -> None:
    workers = [worker(file, number, 2_000) for number in range(4)]
    for each in workers:
        with each:
            each.communicate(timeout=60)
    assert SharedTable(file.fileno(), 4).of("main faults").use(["a"], FIRST)["a"][1] == 8_000


def test_a_process_that_is_killed_holds_no_lock_and_its_counts_stay(file: IO[bytes]) -> None:
    plugin = SharedTable(file.fileno(), 1).of("main faults")
    with worker(file, 0, 1) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"alone\n"
        other.send_signal(signal.SIGKILL)
        row = plugin.use(["a"], FIRST)["a"]
        with plugin.alone:
            assert row[1] == 2
