"""A gateway runs with the C library's allocator, unless the operator chose another; in real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from proxy.net.allocator import CHOICE, KEPT_BLOCKS, TUNABLES, use_malloc
from tests.real.ports import free_block
from tests.real.process import Program

ARENA = 64 << 20  # bytes of addresses that the C library reserves for an arena of a thread
T = TypeVar("T")
# Messages grow side by side, after a large one was freed. Prints their size, and what the process takes for them: KiB.
GROWING = """\
from pathlib import Path
from proxy.net.allocator import tune_malloc

def kib(name):
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith(name))

tune_malloc()
large = bytearray(24 << 20)
del large
before, part, messages = kib("VmRSS"), bytes(64 << 10), [bytearray() for _ in range(20)]
for _ in range(128):
    for message in messages:
        message += part
print(20 * 8 << 10, kib("VmRSS") - before)
"""
LONG = 60.0  # seconds: processes start here, on a machine that has other things to do
FILE = """\
clusters:
  main: {{bootstrap: ["127.0.0.1:{broker}"]}}
listeners:
  clients: {{cluster: main, bind: "127.0.0.1:{port}"}}
workers: {workers}
plugins: [{{acl: {{rules: "acl.yaml"}}}}]
"""


def processes(folder: Path, workers: int, look: Callable[[str], T], **chosen: str) -> list[T]:
    """Look at the process that was started, and at its children, once each looked for a broker that is not there."""
    (folder / "acl.yaml").write_text("acls: []\n")  # a plugin is started in a thread
    file, port = folder / "gateway.yaml", free_block(2, "127.0.0.1")
    file.write_text(FILE.format(broker=port + 1, port=port, workers=workers))
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    program = Program("gateway", command, folder / "log", chosen)
    try:
        for worker in range(workers):
            told = f"worker={worker}" if workers > 1 else "upstream unreachable"
            program.expect(told, within=LONG)
        threads = Path(f"/proc/{program.pid}/task").glob("*/children")
        children = [pid for each in threads for pid in each.read_text().split()]
        return [look(pid) for pid in (str(program.pid), *children)]
    finally:
        assert program.stop() == 0


def environment(pid: str) -> dict[str, str]:
    pairs = Path("/proc", pid, "environ").read_bytes().decode().rstrip("\0").split("\0")
    return dict(pair.split("=", 1) for pair in pairs)


def arenas(pid: str) -> list[str]:
    """The arenas of threads: mappings of this size that begin at a multiple of it, of which only a part is in use."""
    mappings = [line.split()[:2] for line in Path("/proc", pid, "maps").read_text().splitlines()]
    spans = [([int(end, 16) for end in span.split("-")], may) for span, may in mappings]
    return [
        f"{start:x}"
        for ((start, used), may), ((rest, end), may_rest) in pairwise(spans)
        if (may, may_rest) == ("rw-p", "---p") and used == rest and start % ARENA == 0 and end == start + ARENA
    ]


@pytest.mark.parametrize(("workers", "count"), [(1, 1), (2, 3)])
def test_it_is_the_c_librarys_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, count: int
) -> None:
    for variable in (CHOICE, TUNABLES):
        monkeypatch.delenv(variable, raising=False)
    found = processes(tmp_path, workers, environment)
    assert [(each.get(CHOICE), each.get(TUNABLES)) for each in found] == [("malloc", KEPT_BLOCKS)] * count


@pytest.mark.parametrize(("workers", "count"), [(1, 1), (2, 3)])
def test_no_thread_has_an_arena_of_its_own(tmp_path: Path, workers: int, count: int) -> None:
    assert processes(tmp_path, workers, arenas) == [[]] * count


def test_messages_that_grow_side_by_side_leave_no_holes() -> None:
    command = [sys.executable, "-c", GROWING]
    done = subprocess.run(command, env={CHOICE: "malloc"}, capture_output=True, text=True, check=True)
    held, taken = map(int, done.stdout.split())
    assert held <= taken < held * 1.15


@pytest.mark.parametrize(("chosen", "expected"), [({CHOICE: "pymalloc"}, "pymalloc"), ({"PYTHONDEVMODE": "1"}, None)])
def test_who_chose_another_gets_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], expected: str | None
) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    assert [each.get(CHOICE) for each in processes(tmp_path, 1, environment, **chosen)] == [expected]


def test_what_the_user_tunes_of_the_c_library_comes_last_and_counts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[dict[str, str]] = []
    monkeypatch.setattr("os.execve", lambda path, command, variables: executed.append(variables))
    monkeypatch.delenv(CHOICE, raising=False)
    monkeypatch.setenv(TUNABLES, "glibc.malloc.tcache_count=7")
    use_malloc()
    assert [each[TUNABLES] for each in executed] == [f"{KEPT_BLOCKS}:glibc.malloc.tcache_count=7"]


def test_where_the_process_cannot_be_executed_again_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    use_malloc()
