"""The report's verdicts on targets."""

from __future__ import annotations

import pytest

from tests.bench.compare import Line
from tests.bench.lane import Sample
from tests.bench.report import Verdict, verdicts
from tests.bench.rig import Result
from tests.bench.workloads import Target, Workload, cost, rate


@pytest.mark.parametrize(
    ("reached", "floor", "said"),
    [
        (0.7, 0.5, "met"),
        (0.3, 0.7, "NOT MET"),
        (0.3, None, "NOT MET"),
        (0.3, 0.5, "NOT MET, nor by the relay"),
    ],
)
def test_a_target_that_is_missed_says_whether_this_machine_allows_it(
    reached: float, floor: float | None, said: str
) -> None:
    assert str(Verdict("a line", Target("requests_per_s", 0.68, at_least=True), reached, floor)) == said


def test_a_target_is_a_share_of_whom_it_names() -> None:
    workload = Workload("w", "a line", {}, targets=(rate(0.65, "haproxy"), cost(1.15, "relay"), cost(70)))
    samples = {"doorkeeper": sample(rate=60, cpu=12.0), "haproxy": sample(rate=100, cpu=8.0)}
    samples |= {"relay": sample(rate=120, cpu=10.0), "before": sample(rate=60, cpu=12.0)}
    found = {each.title: each.value for each in verdicts([Line(workload, [samples], {})], False)}
    assert found == {
        "a line, of haproxy": pytest.approx(0.6),
        "a line, CPU us a request, of relay": pytest.approx(1.2),
        "a line, CPU us a request": pytest.approx(12),
        "a line, CPU us a request, of before": pytest.approx(1),
    }


def test_who_was_not_measured_is_no_target() -> None:
    workload = Workload("w", "a line", {}, targets=(rate(0.65, "haproxy"), cost(1.15, "relay")))
    assert not list(verdicts([Line(workload, [{"doorkeeper": sample(rate=60, cpu=12.0)}], {})], False))


def sample(rate: float, cpu: float) -> Sample:
    """A sample with this many requests a second, at this many microseconds of CPU time each."""
    count = int(rate)
    result = Result("produce", 11, count, 1.0, rate, 1.0, 100.0, 200.0, 300.0, count, 100 * count)
    return Sample(result, cpu * rate / 1e6, 0.0, 1.0)
