"""Tethered processes end with the process that started them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 30.0
CHILD = "import signal; print('up', flush=True); signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {CHILD}"
# Starts a tethered module whose output is its own, and waits to be killed.
PARENT = """
import signal, subprocess, sys
subprocess.Popen([sys.executable, "-m", "chaos.tethered", sys.argv[1]], stdin=subprocess.PIPE)
signal.pause()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_it_ends_when_its_parent_is_killed(folder: Path) -> None:
    (folder / "child.py").write_text(CHILD)
    parent = subprocess.Popen([sys.executable, "-c", PARENT, "child"], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        assert parent.stdout.readline() == b"up\n"
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(SECONDS)
        assert parent.stdout.read() == b""  # the end: nobody has the pipe any more


def test_a_module_that_does_not_end_when_told_is_ended(folder: Path) -> None:
    (folder / "child.py").write_text(STUBBORN)
    run = "import chaos.tethered, sys; chaos.tethered.LONGEST = 0.1; sys.argv[:] = ['', 'child']; chaos.tethered.main()"
    with subprocess.Popen(
        [sys.executable, "-c", run], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        child.stdin.close()
        assert child.wait(SECONDS) == 1


def test_it_has_its_arguments_and_its_exit_code(folder: Path) -> None:
    (folder / "child.py").write_text("import sys; assert __name__ == '__main__'; sys.exit(sys.argv[1] == 'seven')")
    command = [sys.executable, "-m", "chaos.tethered", "child", "seven"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert child.wait(SECONDS) == 1
