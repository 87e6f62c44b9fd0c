"""Delays have the configured length, and are the same each time."""

from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any

import pytest

from plugins.faults.effects.delay import LONGEST, DelayFrame
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def test_delays_are_drawn_the_same_each_time_and_leave_the_request_to_the_next_fault(tmp_path: Path) -> None:
    text = """
        seed: 7
        faults:
          - {match: {api: Produce}, do: {delay: {lognormal: {median: 20ms, sigma: 0.5}}}}
          - {match: {api: Produce}, do: {delay: {time: 1s, side: after_broker}}}
          - {match: {api: Produce}, when: {nth: 2}, do: {error: NOT_LEADER_OR_FOLLOWER}}
    """
    slept = []
    for _ in range(2):
        talk = FaultTalk(FaultFile(tmp_path, text), serving)
        assert [errors(talk.ask(produce("orders"), 9))["orders", 0] for _ in range(2)] == [
            "NONE",
            "NOT_LEADER_OR_FOLLOWER",
        ]
        slept.append(talk.slept)
    assert slept[0] == slept[1]
    first, second, third = slept[0]
    assert (second, first != third) == (1.0, True)
    assert 0.002 < first < 0.2


@pytest.mark.parametrize(
    ("said", "centre", "spread"),
    [
        ({"time": "200ms"}, 0.2, 0.0),
        ({"time": "200ms", "jitter": "100ms"}, 0.2, 0.0577),
        ({"uniform": {"from": "100ms", "to": "300ms"}}, 0.2, 0.0577),
        ({"normal": {"mean": "200ms", "deviation": "50ms"}}, 0.2, 0.05),
        ({"lognormal": {"median": "200ms", "sigma": 0.25}}, 0.2, 0.0523),
    ],
)
def test_drawn_times_have_the_distribution_that_was_asked_for(said: Any, centre: float, spread: float) -> None:
    delay = DelayFrame.model_validate(said)
    drawn = [delay.seconds((part + 0.5) / 1000) for part in range(1000)]
    assert median(drawn) == pytest.approx(centre, rel=0.01)
    assert pstdev(drawn) == pytest.approx(spread, abs=0.001)
    assert mean(drawn) == pytest.approx(centre, rel=0.05)


def test_no_drawn_time_is_negative_or_endless() -> None:
    wide = DelayFrame.model_validate({"normal": {"mean": "1s", "deviation": "10s"}})
    assert wide.seconds(0.0) == 0.0
    jittery = DelayFrame.model_validate({"time": "1s", "jitter": "2s"})
    assert jittery.seconds(0.0) == 0.0
    heavy = DelayFrame.model_validate({"lognormal": {"median": "1h", "sigma": 5}})
    assert heavy.seconds(0.999) == LONGEST
