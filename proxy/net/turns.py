"""Turns: links in the middle of long work go on one after the other, a slice each, between the events of all others.

# A slice takes 1 to 2 ms (`proxy/protocol/slices.py`). However many wait, sockets are looked at again after `SHARE`.
# Who had a slice goes to the end of the line: all that wait get on equally fast.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

SHARE = 0.001  # seconds


class Turns:
    """The line of those that wait for their turn: `line` says whether there are any."""

    def __init__(self) -> None:
        self.line: deque[Callable[[], None]] = deque()

    def wait(self, go_on: Callable[[], None]) -> None:
        """Call this when its turn has come. It waits again where there is more to do."""
        self.line.append(go_on)

    def serve(self) -> None:
        """Give turns, each who waits now one at the most."""
        until = time.perf_counter() + SHARE
        for _ in range(len(self.line)):
            self.line.popleft()()
            if time.perf_counter() > until:
                return
