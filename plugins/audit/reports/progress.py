"""Progress: how much of the work of a job is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progressed(NamedTuple):
    """`done` of `total` parts of the work are done, `what` last."""

    done: int
    total: int
    what: str


class WorkProgress:
    """Counts the parts that are done, and tells of each step. `total` is set once it is known."""

    def __init__(self, tell: Callable[[Progressed], None]) -> None:
        self._tell = tell
        self._done = 0
        self.total = 0

    def step(self, what: str, parts: int = 1) -> None:
        """So many more parts are done."""
        self._done += parts
        self._tell(Progressed(self._done, self.total, what))
