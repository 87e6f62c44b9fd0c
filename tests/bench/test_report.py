"""What the report says of a target."""

from __future__ import annotations

import pytest

from tests.bench.report import Verdict
from tests.bench.workloads import Target


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
