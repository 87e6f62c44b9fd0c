"""`doorkeeper run`, up to where the network begins."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from proxy.cli import main

INTERRUPTED = """
import importlib.abc, os, signal, sys

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "structlog":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
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


def test_ctrl_c_while_it_starts_ends_it_without_a_word(tmp_path: Path) -> None:
    """Python runs `sitecustomize` as it starts: here it presses Ctrl-C when the first large library is imported."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))}
    command = [sys.executable, "-m", "proxy", "run", str(tmp_path / "gateway.yaml")]
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")
