"""`doorkeeper faults run` plays a scenario against a real proxy, and reports the result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plugins.faults.replay import RECORD, REPLAY, ReplayedFiring, read_firings
from proxy.cli import main
from tests.chaos.running import ROOT, FaultyProxy
from tests.mock_brokers import mock_brokers

SCENARIO = """\
about: Produce is refused.
parameters: {topic: orders}
steps:
  - name: denied
    faults: {match: {api: Produce, topic: "${topic}"}, do: {error: TOPIC_AUTHORIZATION_FAILED}}
    expect: {fired: 2, within: WITHIN}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with mock_brokers(1) as broker:
        yield broker


@pytest.fixture(scope="module")
def proxy(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(tmp_path_factory.mktemp("proxy"), cluster)
    yield proxy
    proxy.kill()


@contextmanager
def producing(proxy: FaultyProxy, topic: str = "orders") -> Iterator[None]:
    """Have a client produce meanwhile, again and again."""
    ends = threading.Event()

    def produce() -> None:
        while not ends.is_set():
            proxy.produce(topic)

    beside = threading.Thread(target=produce)
    beside.start()
    yield
    ends.set()
    beside.join()


def run(folder: Path, proxy: FaultyProxy, *said: str, within: str = "30s") -> Result:
    file = folder / "scenario.yaml"
    file.write_text(SCENARIO.replace("WITHIN", within))
    return CliRunner().invoke(main, ["faults", "run", str(file), "--url", proxy.url, *said])


def test_what_comes_as_expected_ends_with_0_and_leaves_nothing(proxy: FaultyProxy, tmp_path: Path) -> None:
    with producing(proxy):
        result = run(tmp_path, proxy)
    assert result.exit_code == 0, result.output
    begins, over = result.stdout.splitlines()
    assert begins.endswith("s  denied: begins")
    assert "s  denied: is over, fired " in over
    assert proxy.admin.faults().faults == ()
    assert proxy.produce() is None


def test_what_does_not_come_ends_with_1_and_says_what_came_instead(proxy: FaultyProxy, tmp_path: Path) -> None:
    with producing(proxy):
        result = run(tmp_path, proxy, "--set", "topic=payments", within="1s")
    assert result.exit_code == 1
    assert 'not as expected: denied: it ended, and "denied" fired 0 of 0 matches, not at least 2 times' in result.stderr


def test_the_seed_is_the_gateways_from_then_on(proxy: FaultyProxy, tmp_path: Path) -> None:
    with producing(proxy):
        run(tmp_path, proxy, "--seed", "11")
    assert proxy.admin.faults().seed == 11


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["leader-flop"], 'no scenario is called "leader-flop"; did you mean "leader-flap"?'),
        (["leader-flap", "--set", "topc=x"], 'the scenario has no parameter "topc"; did you mean "topic"?'),
        (["leader-flap", "--set", "topic"], '"topic" sets nothing; write e.g. --set topic=orders'),
        (
            ["leader-flap", "--set", "topic=orders", "--set", "topic=payments"],
            '"topic" is set to "orders" and to "payments"; keep one of the two',
        ),
        (["none.yaml"], "none.yaml: there is no such file; check the path"),
        (["leader-flap", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer: "),
        (["leader-flap", "--url", "ftp://h:1"], '"ftp://h:1" is no URL of an admin side; '),
        (["leader-flap", "--url", "http://127.0.0.1:1", "--bootstrap", "nowhere:1"], "leave one of the two out"),
        (["leader-flap", "--bootstrap", "nowhere"], 'Error: --bootstrap: "nowhere" has no port; write "nowhere:9092"'),
    ],
)
def test_what_cannot_be_played_ends_with_2_and_a_line(said: list[str], reason: str) -> None:
    result = CliRunner().invoke(main, ["faults", "run", *said])
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_cluster_that_is_not_reached_is_told_with_the_option_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.scenarios.own_gateway.PATIENCE", 1.0)
    result = CliRunner().invoke(main, ["faults", "run", "leader-flap", "--bootstrap", "127.0.0.1:1"])
    assert result.exit_code == 2
    assert result.stderr.startswith("--bootstrap 127.0.0.1:1: the cluster was not reached within 1 s; see that ")


def test_a_proxy_of_its_own_is_there_for_as_long_as_it_takes(cluster: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("about: x\nsteps: [{for: 200ms, faults: {do: hold}}]\n")
    result = CliRunner().invoke(main, ["faults", "run", str(file), "--bootstrap", f"127.0.0.1:1,{cluster}"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("clients may connect to 127.0.0.1:")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_of_the_terminal_takes_the_faults_away(
    cluster: str, tmp_path: Path, number: signal.Signals
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("about: x\nalways: {do: hold}\nsteps: [{for: 60s}]\n")
    command = [sys.executable, "-m", "proxy", "faults", "run", str(file), "--bootstrap", cluster]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        while "begins" not in process.stdout.readline():
            assert process.poll() is None
        os.killpg(process.pid, number)
        _, said = process.communicate()
    assert (process.returncode, said) == (2, "interrupted; its faults are gone\n")


def test_those_that_are_shipped_are_listed_with_their_parameters() -> None:
    result = CliRunner().invoke(main, ["faults", "scenarios"])
    assert result.exit_code == 0
    line = next(line for line in result.stdout.splitlines() if line.startswith("slow-broker "))
    assert line.endswith("A broker takes more than a second for everything. (broker=1)")


def test_a_run_is_recorded_and_replayed_by_the_proxy(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chance decides the first time; the second time those firings come that are left of the recording."""
    fault = {"name": "denied", "match": {"api": "Produce"}, "do": {"error": "TOPIC_AUTHORIZATION_FAILED"}}

    def outcomes(name: str, when: dict[str, object]) -> list[bool]:
        folder = tmp_path / name
        folder.mkdir()
        proxy = FaultyProxy(folder, cluster)
        try:
            proxy.admin.add({**fault, "when": when})
            return [proxy.produce("replayed") is not None for _ in range(6)]
        finally:
            proxy.stop()

    record = tmp_path / "recorded"
    monkeypatch.setenv(RECORD, str(record))
    first = outcomes("first", {"nth": [2, 3, 5]})
    monkeypatch.delenv(RECORD)
    assert read_firings(record) == [ReplayedFiring("denied", match) for match in (2, 3, 5)]
    record.write_text("".join(record.read_text().splitlines(keepends=True)[1:]))
    monkeypatch.setenv(REPLAY, str(record))
    second = outcomes("second", {"probability": 0.9})
    assert first == [False, True, True, False, True, False]
    assert second == [False, False, True, False, True, False]
