from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from proxy.scenarios.shrink import shrink


@pytest.mark.parametrize("needed", [*combinations(range(8), 2), (0,), (7,), (1, 3, 6), tuple(range(8))])
def test_what_is_needed_is_found_and_nothing_else(needed: tuple[int, ...]) -> None:
    assert shrink(range(8), lambda some: set(needed) <= set(some)) == list(needed)


def test_two_of_thirty_take_few_runs() -> None:
    runs: list[Sequence[int]] = []

    def fails(some: Sequence[int]) -> bool:
        runs.append(some)
        return {4, 23} <= set(some)

    assert shrink(range(30), fails) == [4, 23]
    assert len(runs) < 60


def test_what_fails_without_a_reason_of_its_own_is_left_with_one() -> None:
    assert len(shrink(range(30), lambda some: True)) == 1
