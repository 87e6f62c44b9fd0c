"""Triggers decide whether a rule that matched fires. They know counts and times, and not what a rule does.

Rules:
* The same seed and the same matches in the same order give the same firings.
* A rule is asked only about a match that it could act on: a match where it could change nothing is not counted.
* The counts of a rule are in a row of numbers that the caller keeps. Workers may share a row, and then count together.
* `alone` is held while a rule is asked, so that no other worker counts at that time.
* The caller says what time it is, in seconds from any origin.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from rules.chance import chance
from rules.when import When


class Firing(NamedTuple):
    """A rule fires, at its match number `match`. Matches count from 1."""

    rule: str
    match: int
    seed: int

    def chance(self, what: str) -> float:
        """A pseudo-random number for this firing and purpose: at least 0.0, less than 1.0, the same at each call."""
        return chance(self.seed, self.rule, self.match, what)


class Unfired(NamedTuple):
    """A rule matched, and does not fire. `match` is None where the match was not counted."""

    rule: str
    match: int | None
    why: str


Row = MutableSequence[float]  # when a rule came into force, how often it matched, how often it fired


def new_row(at: float) -> Row:
    """The row of a rule that comes into force now."""
    return [at, 0.0, 0.0]


class RuleCounts:
    """The counts of one rule, in its row. `began`: when it came into force."""

    __slots__ = ("_row",)

    def __init__(self, row: Row) -> None:
        self._row = row

    @property
    def began(self) -> float:
        return self._row[0]

    def ends(self, when: When) -> float | None:
        """When the window is over; None: it stays open."""
        return None if when.for_ is None else self.began + (when.from_ or 0.0) + when.for_

    @property
    def matches(self) -> int:
        return int(self._row[1])

    @property
    def fired(self) -> int:
        return int(self._row[2])

    def match(self) -> int:
        """Count one more match, and return its number."""
        self._row[1] += 1
        return self.matches

    def fire(self) -> None:
        """Count one more firing."""
        self._row[2] += 1


class Triggers:
    """Rules by their names, each with its row."""

    def __init__(
        self,
        whens: Mapping[str, When],
        seed: int,
        rows: Mapping[str, Row],
        alone: AbstractContextManager[object] | None = None,
    ) -> None:
        self.whens = dict(whens)
        self.seed = seed
        self.counts = {name: RuleCounts(rows[name]) for name in whens}
        self._alone = nullcontext() if alone is None else alone

    def ask(self, rule: str, at: float) -> Firing | Unfired:
        """Whether this rule fires at a match that it can act on. Counts the match."""
        with self._alone:
            return self._ask(rule, at)

    def _ask(self, rule: str, at: float) -> Firing | Unfired:
        when, counts = self.whens[rule], self.counts[rule]
        closed = self._closed(when, counts, at)
        if closed is not None:
            return Unfired(rule, None, closed)
        number = counts.match()
        why = self._unmeant(rule, when, number)
        if why is not None:
            return Unfired(rule, number, why)
        counts.fire()
        return Firing(rule, number, self.seed)

    def _closed(self, when: When, counts: RuleCounts, at: float) -> str | None:
        """Why no match is counted now; None if matches are."""
        if when.from_ is not None and at < counts.began + when.from_:
            return f"its window opens in {counts.began + when.from_ - at:.1f} s"
        if self._is_over(when, counts, at):
            return "its window is over"
        if when.after_rule is not None and not self.counts[when.after_rule].fired:
            return f'"{when.after_rule}" has not fired yet'
        if when.while_rule is not None and not self.is_under_way(when.while_rule, at):
            return f'"{when.while_rule}" is not under way'
        return None

    def _unmeant(self, rule: str, when: When, number: int) -> str | None:
        """Why the rule does not fire at this match; None if it does."""
        if when.times is not None and self.counts[rule].fired >= when.times:
            return f"it fired {when.times} times already"
        if when.after is not None and number <= when.after:
            return f"it was match {number}, and the first {when.after} are left out"
        if when.nth is not None and number not in when.nth:
            return f"it was match {number}, and {' and '.join(map(str, when.nth))} are meant"
        if when.probability is not None and chance(self.seed, rule, number, "fires") >= when.probability:
            return f"it was match {number}, and chance ({when.probability:g}) was against it"
        return None

    def ends(self, rule: str) -> float | None:
        """When the window of a rule is over; None: it stays open, or the rule is unknown."""
        return self.counts[rule].ends(self.whens[rule]) if rule in self.whens else None

    def is_under_way(self, rule: str, at: float) -> bool:
        """Whether it has fired and can fire again."""
        when, counts = self.whens[rule], self.counts[rule]
        return counts.fired > 0 and not self._is_done(when, counts) and not self._is_over(when, counts, at)

    @staticmethod
    def _is_done(when: When, counts: RuleCounts) -> bool:
        if when.times is not None and counts.fired >= when.times:
            return True
        return when.last is not None and counts.matches >= when.last

    @staticmethod
    def _is_over(when: When, counts: RuleCounts, at: float) -> bool:
        ends = counts.ends(when)
        return ends is not None and at >= ends
