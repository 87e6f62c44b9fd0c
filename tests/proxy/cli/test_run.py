"""`doorkeeper run`, up to where the network begins."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proxy.cli import main

SIGNALLED = """
import importlib.abc, os, signal, sys

class Signal(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signal())
"""


def test_a_bad_file_is_told_in_full_and_nothing_starts(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("clusters: {main: {bootstrap: [kafka]}}\nlisteners: {a: {cluster: main}}\n")
    result = CliRunner().invoke(main, ["run", str(file)])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f'{file}:1:31: "kafka" has no port; write "kafka:9092"',
        f'{file}:2:16: "bind" is missing; write e.g. "bind: 0.0.0.0:9192"',
    ]


def test_a_bad_file_of_rules_is_told_and_nothing_starts(tmp_path: Path) -> None:
    file, rules = tmp_path / "gateway.yaml", tmp_path / "acl.yaml"
    listeners = "listeners: {a: {cluster: main, bind: 127.0.0.1:9192}}"
    file.write_text(
        f"clusters: {{main: {{bootstrap: [kafka:9092]}}}}\n{listeners}\nplugins: [acl: {{rules: acl.yaml}}]\n"
    )
    rules.write_text("acls: [{allow: User:a, to: Raed, topics: t}]\n")
    result = CliRunner().invoke(main, ["run", str(file)])
    assert result.exit_code == 1
    assert result.stderr == f'{rules}:1:28: unknown operation "Raed"; did you mean "Read"?\n'


def test_without_a_file_it_is_a_usage_error() -> None:
    assert CliRunner().invoke(main, ["run"]).exit_code == 2


def started(tmp_path: Path, module: str, number: signal.Signals) -> subprocess.CompletedProcess[bytes]:
    """The end of a start in which this signal comes when this module is imported.

    Python runs `sitecustomize` as it starts.
    """
    (tmp_path / "sitecustomize.py").write_text(SIGNALLED.format(module=module, number=int(number)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))}
    command = [sys.executable, "-m", "proxy", "run", str(tmp_path / "gateway.yaml")]
    return subprocess.run(command, env=environment, capture_output=True, check=False)


LARGE = pytest.mark.parametrize("module", ["click", "structlog"])  # the first large library, and the last


@LARGE
def test_ctrl_c_while_it_starts_ends_it_without_a_word(tmp_path: Path, module: str) -> None:
    ended = started(tmp_path, module, signal.SIGINT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")


@LARGE
def test_a_reload_that_is_asked_for_while_it_starts_does_not_end_it(tmp_path: Path, module: str) -> None:
    ended = started(tmp_path, module, signal.SIGHUP)
    assert ended.returncode == 1
    assert ended.stderr.startswith(str(tmp_path / "gateway.yaml").encode())
