"""Shrinking: from the firings of a failed run, find a few that are enough for it to fail.

Delta debugging ("ddmin", Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002): parts of the
firings are left out, ever smaller ones, for as long as the run still fails. The result is minimal: the run fails with
it, and does not fail if any single firing is taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def shrink(failing: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """The smallest part found for which `fails` still holds. It must hold for all of `failing`."""
    left, parts = list(failing), 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        found = _one_that_fails(chunks, fails)
        if found is not None:
            left, parts = found, 2 if found in chunks else max(len(chunks) - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(left))
    return left


def _one_that_fails(chunks: list[list[T]], fails: Callable[[Sequence[T]], bool]) -> list[T] | None:
    """A chunk that fails alone, or else all chunks without one of them."""
    for chunk in chunks:
        if fails(chunk):
            return chunk
    if len(chunks) > 2:  # of two chunks, each is all the others
        for index in range(len(chunks)):
            others = [item for chunk in (*chunks[:index], *chunks[index + 1 :]) for item in chunk]
            if fails(others):
                return others
    return None
