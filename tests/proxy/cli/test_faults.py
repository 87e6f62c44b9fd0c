"""`doorkeeper faults` controls the faults of a real proxy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proxy.cli import main
from tests.chaos.running import ROOT, FaultyProxy
from tests.mock_brokers import mock_brokers

TOKEN = "0123456789abcdef"
WITHOUT_TOKEN = "the token is missing or wrong; set DOORKEEPER_TOKEN, or give --token-file\n"
DENIED = "{name: denied, match: {api: Produce}, when: {times: 1}, do: {error: TOPIC_AUTHORIZATION_FAILED}}"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyProxy]:
    """A proxy that wants a token."""
    with mock_brokers(1) as broker:
        proxy = FaultyProxy(tmp_path_factory.mktemp("proxy"), broker, admin=f", token: {TOKEN}", token=TOKEN)
        yield proxy
        proxy.kill()
        print(proxy.tail())


@pytest.fixture
def proxy(running: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> FaultyProxy:
    running.admin.reset()
    monkeypatch.setenv("DOORKEEPER_ADMIN", running.url)
    monkeypatch.setenv("DOORKEEPER_TOKEN", TOKEN)
    return running


def faults(*said: str, **more: Any) -> Result:
    return CliRunner().invoke(main, ["faults", *said], catch_exceptions=False, **more)


def test_a_fault_is_added_seen_and_taken_away(proxy: FaultyProxy) -> None:
    assert faults("add", DENIED).stdout == "denied\n"
    assert proxy.produce() == "TOPIC_AUTHORIZATION_FAILED"
    listed = faults("list")
    assert listed.stdout.splitlines() == [
        "NAME    FROM  MATCHED  FIRED  UNTIL  ABOUT               DOES",
        'denied  api   1        1      over   {"api": "Produce"}  {"error": "TOPIC_AUTHORIZATION_FAILED"}',
    ]
    (line,) = faults("ledger").stdout.splitlines()
    assert "denied  Produce v" in line
    assert line.endswith("to broker 1  fired (error)")
    (entry,) = [json.loads(line) for line in faults("ledger", "--json").stdout.splitlines()]
    assert (entry["fault"], entry["result"]) == ("denied", "fired")
    assert faults("rm", "denied").stdout == "denied: matched 1, fired 1\n"
    assert json.loads(faults("list", "--json").stdout)["faults"] == []


def test_the_list_says_until_when_faults_can_fire(proxy: FaultyProxy) -> None:
    for name, when in {
        "always": "{}",
        "thrice": "{times: 3}",
        "soon": "{for: 1h}",
        "late": "{for: 36500d}",
        "both": "{for: 1h, times: 2}",
    }.items():
        faults("add", f"{{name: {name}, when: {when}, do: {{delay: 1ms}}}}")
    proxy.admin.add({"name": "over", "when": {"for": "1ms"}, "do": "hold"})
    ends = {it.name: it.ends for it in proxy.admin.faults().faults}
    assert ends["always"] is ends["thrice"] is None
    at = datetime.fromtimestamp(ends["soon"] or 0.0, UTC)
    assert timedelta(0) < at - datetime.now(UTC) <= timedelta(hours=1)
    until = {line.split("  ")[0]: line for line in faults("list").stdout.splitlines()}
    assert "  -  " in until["always"]
    assert "  fired 3  " in until["thrice"]
    assert re.search(r"  \d\d:\d\d:\d\d UTC  ", until["soon"])
    assert re.search(r"  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  ", until["late"])
    assert re.search(r"  \d\d:\d\d:\d\d UTC or fired 2  ", until["both"])
    assert "  over  " in until["over"]


def test_a_file_is_added_whole_or_not_at_all(proxy: FaultyProxy, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(f"seed: 7\nfaults:\n  - {DENIED}\n  - do: {{error: NOT_LEADER_OR_FOLOWER}}\n")
    refused = faults("add", str(file))
    assert refused.exit_code == 1
    told = 'unknown error "NOT_LEADER_OR_FOLOWER"; did you mean "NOT_LEADER_OR_FOLLOWER"?'
    assert refused.stderr.splitlines()[-1] == f"{file}:4:17: {told}"
    assert proxy.admin.faults().faults == ()
    file.write_text(f"seed: 7\nfaults:\n  - {DENIED}\n")
    added = faults("add", str(file))
    assert added.stdout == "denied\n"
    assert "its seed is left out" in added.stderr
    assert faults("reset", "--seed", "8").exit_code == 0
    assert (proxy.admin.faults().seed, proxy.admin.faults().faults) == (8, ())
    assert faults("add", "-", input=DENIED).stdout == "denied\n"
    assert faults("release", "denied").exit_code == 0


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["add", "{do: hld}"], 'fault:1:6: unknown effect "hld"; did you mean "hold"?'),
        (["add", "{do: {error: NOT_LEADER_OR_FOLOWER}}"], 'fault:1:14: unknown error "NOT_LEADER_OR_FOLOWER"'),
        (["add", "{do: hold"], 'fault:1:1: a mapping opens here and is never closed; add "}" or a ","'),
        (["add", "none.yaml"], "none.yaml: there is no such file; check the path"),
        (["add", "{faults: 7}"], 'fault:1:10: "faults" is no list; begin each fault with "- "'),
        (["add", "{do: ${NOT_SET_AT_ALL}}"], 'environment variable "NOT_SET_AT_ALL" is not set'),
        (["rm", "none"], 'no fault is called "none"'),
        (["list", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer: "),
        (["list", "--url", "127.0.0.1:1"], '"127.0.0.1:1" is no URL of an admin side'),
        (["list", "--url", "http://me:secret@127.0.0.1:1"], "has no user or password; give a token instead"),
        (["list", "--url", "http://[1"], '"http://[1" is no URL of an admin side'),
        (["list", "--url", "http://127.0.0.1:port"], '"http://127.0.0.1:port" is no URL of an admin side'),
    ],
)
def test_what_cannot_be_is_one_line_with_its_place(proxy: FaultyProxy, said: list[str], told: str) -> None:
    result = faults(*said)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert told in line


def test_a_token_comes_from_a_file_or_the_environment_and_never_from_an_argument(
    proxy: FaultyProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOORKEEPER_TOKEN")
    refused = faults("list")
    assert (refused.exit_code, refused.stderr) == (1, WITHOUT_TOKEN)
    monkeypatch.setenv("DOORKEEPER_TOKEN", "another")
    for arguments in (["add", "{do: hold}"], ["run", "leader-flap"]):
        assert faults(*arguments).stderr == WITHOUT_TOKEN
    monkeypatch.delenv("DOORKEEPER_TOKEN")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert faults("list", "--token-file", str(file)).exit_code == 0
    file.write_bytes("Schlüssel".encode())
    assert "characters that no token has" in faults("list", "--token-file", str(file)).stderr
    said = faults("list", "--token", TOKEN)
    assert said.exit_code == 2
    assert "seen by all; set DOORKEEPER_TOKEN" in said.stderr


def test_a_shell_is_told_the_names_that_can_be_taken_away(proxy: FaultyProxy) -> None:
    proxy.admin.add({"name": "lost", "do": "hold"}, {"name": "late", "do": "hold"}, {"name": "other", "do": "hold"})
    asked = {"_DOORKEEPER_COMPLETE": "bash_complete", "COMP_WORDS": "doorkeeper faults rm l", "COMP_CWORD": "3"}
    environment = {**os.environ, **asked, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "proxy"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["plain,lost", "plain,late"]
