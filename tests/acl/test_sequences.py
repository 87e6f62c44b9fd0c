"""Both sides answer random requests of clients with sessions alike, while rules change."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.acl.everybody import own
from tests.acl.lockstep import differences
from tests.acl.play import Player
from tests.acl.sequences import Step, sequence
from tests.acl.sides import Sides

pytestmark = pytest.mark.real

MOST_TRIES = 40  # attempts to find a shorter sequence


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(1_000, 1_050), marks=pytest.mark.long)], ids=len)
def test_both_sides_answer_random_sequences_alike(seeds: range, sides: Sides) -> None:
    scenario = own("sessions")
    number, spoken = scenario.number, sides.spoken()
    for side in sides:
        Player(scenario, side, spoken).play()
    for seed in seeds:
        steps = sequence(seed)
        found = first(sides, number, steps)
        if found:
            shorter, told = shrunk(sides, number, steps, found)
            pytest.fail(f"seed {seed}: {told}\nof:\n" + "\n".join(map(str, shorter)), pytrace=False)


def first(sides: Sides, number: int, steps: Sequence[Step]) -> str | None:
    return next(differences([*sides], number, steps), None)


def shrunk(sides: Sides, number: int, steps: Sequence[Step], found: str) -> tuple[Sequence[Step], str]:
    """The sequence without the steps that the difference does not need."""
    at = 1  # the first step, the rules, stays
    for _ in range(MOST_TRIES):
        if at == len(steps):
            break
        fewer = [*steps[:at], *steps[at + 1 :]]
        again = first(sides, number, fewer)
        if again:
            steps, found = fewer, again
        else:
            at += 1
    return steps, found


def test_the_same_seed_makes_the_same_sequence() -> None:
    assert sequence(7) == sequence(7) != sequence(8)
