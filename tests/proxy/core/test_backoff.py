from __future__ import annotations

import pytest

from proxy.core.backoff import backoff


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 0.5), (2, 1.0), (5, 8.0), (6, 15.0), (1025, 15.0), (10**9, 15.0)]
)
def test_each_wait_is_twice_the_one_before_up_to_the_longest(failures: int, seconds: float) -> None:
    assert backoff(0.5, 15.0, failures) == seconds
