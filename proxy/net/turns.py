"""Turns: links with long work continue in turns, a slice at a time, between the events of other links.

Rules:
* A slice takes 1 to 2 ms (`proxy/protocol/slices.py`). However many links wait, sockets are looked at after `SHARE`.
* A link that had a slice goes to the end of the queue, so that all of them progress equally fast.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

SHARE = 0.001  # seconds of slices between two looks at the sockets


class Turns:
    """The queue of links that wait for their turn. `line` tells whether there are any."""

    def __init__(self) -> None:
        self.line: deque[Callable[[], None]] = deque()

    def wait(self, go_on: Callable[[], None]) -> None:
        """Call this when its turn has come. It may call `wait` again if there is more to do."""
        self.line.append(go_on)

    def serve(self) -> None:
        """Run slices. Each link that waits now gets one at most."""
        until = time.perf_counter() + SHARE
        for _ in range(len(self.line)):
            self.line.popleft()()
            if time.perf_counter() > until:
                return
