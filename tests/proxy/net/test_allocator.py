"""A gateway runs with the C library's allocator, unless the operator chose another; in real processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proxy.net.allocator import CHOICE, use_malloc
from tests.real.ports import free_block
from tests.real.process import Program

LONG = 60.0  # seconds: processes start here, on a machine that has other things to do
FILE = """\
clusters:
  main: {{bootstrap: ["127.0.0.1:{broker}"]}}
listeners:
  clients: {{cluster: main, bind: "127.0.0.1:{port}"}}
workers: {workers}
"""


def environments(folder: Path, workers: int, **chosen: str) -> list[dict[str, str]]:
    """Of the process that was started, and of its children, once each looked for a broker that is not there."""
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
        return [environment(pid) for pid in (str(program.pid), *children)]
    finally:
        assert program.stop() == 0


def environment(pid: str) -> dict[str, str]:
    pairs = Path("/proc", pid, "environ").read_bytes().decode().rstrip("\0").split("\0")
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.mark.parametrize(("workers", "processes"), [(1, 1), (2, 3)])
def test_it_is_the_c_librarys_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, processes: int
) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    assert [each.get(CHOICE) for each in environments(tmp_path, workers)] == ["malloc"] * processes


@pytest.mark.parametrize(("chosen", "expected"), [({CHOICE: "pymalloc"}, "pymalloc"), ({"PYTHONDEVMODE": "1"}, None)])
def test_who_chose_another_gets_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], expected: str | None
) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    assert [each.get(CHOICE) for each in environments(tmp_path, 1, **chosen)] == [expected]


def test_where_the_process_cannot_be_executed_again_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    use_malloc()
