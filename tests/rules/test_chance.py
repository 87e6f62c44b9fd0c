"""Chance is the same each time, and as good as random."""

import subprocess
import sys

from rules.chance import chance


def test_it_is_the_same_in_another_process() -> None:
    said = "from rules.chance import chance; print(chance(7, 'lost-ack', 3, 'fires'))"
    other = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert float(other.stdout) == chance(7, "lost-ack", 3, "fires")


def test_seeds_rules_numbers_and_purposes_are_each_on_their_own() -> None:
    drawn = {chance(7, "a", 1), chance(8, "a", 1), chance(7, "b", 1), chance(7, "a", 2), chance(7, "a", 1, "delay")}
    assert len(drawn) == 5


def test_it_is_spread_evenly() -> None:
    drawn = [chance(7, "rule", number) for number in range(10_000)]
    assert all(0 <= value < 1 for value in drawn)
    for tenth in range(10):
        assert 850 < sum(tenth / 10 <= value < (tenth + 1) / 10 for value in drawn) < 1150
