"""Brokers that accept no connections."""

from pathlib import Path
from typing import Any

import pytest

from proxy.core.arrival import Arrival
from proxy.core.decisions import Disconnect, How, Sleep
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving


def decided(faults: FaultFile, arrival: Arrival) -> Any:
    """What is decided about a connection at once."""
    steps: Any = faults.plugin.accepted(arrival)
    try:
        return pytest.fail(f"it waits: {next(steps)}")
    except StopIteration as over:
        return over.value


def test_a_broker_that_is_down_takes_no_connection_and_ends_those_it_has(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{name: down, match: {broker: 2}, when: {from: 10s, for: 5s}, do: down}]")
    to_2, to_1 = (Arrival(("192.0.2.1", 50000), "clients", "main", broker) for broker in (2, 1))
    assert decided(faults, to_2) is None
    faults.clock.now = 10.0
    assert decided(faults, to_2) == Disconnect('by fault "down" the broker is down', How.RESET)
    assert decided(faults, to_1) is None
    talk = FaultTalk(faults, serving, broker_id=2)
    assert talk.ask(ApiVersionsRequest(), 0) is None
    assert talk.closed == 'by fault "down" the broker is down'
    faults.clock.now = 15.0
    assert decided(faults, to_2) is None
    assert FaultTalk(faults, serving, broker_id=2).ask(ApiVersionsRequest(), 0) is not None


@pytest.mark.parametrize(
    ("word", "how"),
    [
        ("refuse", How.CLOSE),
        ("reset", How.RESET),
        ("{refuse: black_hole}", How.BLACK_HOLE),
        ("{refuse: half_close}", How.HALF_CLOSE),
        ("{down: black_hole}", How.BLACK_HOLE),
    ],
)
def test_connections_are_refused_or_reset_and_those_that_are_there_go_on(tmp_path: Path, word: str, how: How) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{name: a, match: {{broker: 2}}, when: {{times: 2}}, do: {word}}}]")
    decisions = [decided(faults, Arrival(("192.0.2.1", 50000), "clients", "main", 2)) for _ in range(3)]
    assert [getattr(decision, "how", None) for decision in decisions] == [how, how, None]
    assert FaultTalk(faults, serving, broker_id=2).ask(ApiVersionsRequest(), 0) is not None
    effect = word.strip("{").partition(":")[0]
    assert faults.told[0] == f"a: fired at match 1: a connection of 192.0.2.1:50000 to broker 2: {effect}"


def test_a_connection_is_served_late(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: {late: 2s}}]")
    steps: Any = faults.plugin.accepted(Arrival(("192.0.2.1", 50000), "clients", "main", None))
    assert list(steps) == [Sleep(2.0)]


def test_one_that_is_served_late_may_be_refused_then(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: {late: 2s}}, {do: {late: 1s}}, {name: no, do: refuse}]")
    steps: Any = faults.plugin.accepted(Arrival(("192.0.2.1", 50000), "clients", "main", None))
    assert [next(steps), next(steps)] == [Sleep(2.0), Sleep(1.0)]
    with pytest.raises(StopIteration) as over:
        next(steps)
    assert over.value.value == Disconnect('fault "no" refuses the connection', How.CLOSE)
