"""Triggers: rules that were matched, and whether they fire. It knows numbers and moments, and not what a rule does.

# The same seed and the same matches in the same order give the same firings.
# A rule is asked only about what it could really do something to: a match that changes nothing is none.
# What a rule counted is in a row of numbers that the caller keeps: it may be shared with others, who then all count
# together. Nobody else counts while a rule is asked about (`alone`).
# Time is what the caller says it is, in seconds, and begins anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from rules.chance import chance
from rules.when import When


class Firing(NamedTuple):
    """A rule fires, at which of its matches. They count from 1."""

    rule: str
    match: int
    seed: int

    def chance(self, what: str) -> float:
        """A number for something about this firing: at least 0.0, less than 1.0, the same each time it is asked for."""
        return chance(self.seed, self.rule, self.match, what)


class Unfired(NamedTuple):
    """A rule matched, and does not fire. `match` is None where it was not even counted."""

    rule: str
    match: int | None
    why: str


Row = MutableSequence[float]  # when a rule came into force, how often it matched, how often it fired


def new_row(at: float) -> Row:
    """That of a rule that comes into force now."""
    return [at, 0.0, 0.0]


class RuleCounts:
    """What one rule counted, in its row. `began`: when it came into force."""

    __slots__ = ("_row",)

    def __init__(self, row: Row) -> None:
        self._row = row

    @property
    def began(self) -> float:
        return self._row[0]

    @property
    def matches(self) -> int:
        return int(self._row[1])

    @property
    def fired(self) -> int:
        return int(self._row[2])

    def match(self) -> int:
        """One match more. Gives its number."""
        self._row[1] += 1
        return self.matches

    def fire(self) -> None:
        """One firing more."""
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
        """This rule matched something that it can be done to."""
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
        """Why no match counts now."""
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
        """Why this match is not one at which the rule fires."""
        if when.times is not None and self.counts[rule].fired >= when.times:
            return f"it fired {when.times} times already"
        if when.after is not None and number <= when.after:
            return f"it was match {number}, and the first {when.after} are left out"
        if when.nth is not None and number not in when.nth:
            return f"it was match {number}, and {' and '.join(map(str, when.nth))} are meant"
        if when.probability is not None and chance(self.seed, rule, number, "fires") >= when.probability:
            return f"it was match {number}, and chance ({when.probability:g}) was against it"
        return None

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
        return when.for_ is not None and at >= counts.began + (when.from_ or 0.0) + when.for_
