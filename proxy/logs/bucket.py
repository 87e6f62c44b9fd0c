"""Bucket: a token bucket. It allows so many at once, and after that one each so many seconds.

Its state is one number, the time at which the bucket is full again (the generic cell rate algorithm). So nothing has to
refill it.
"""

import time


class Bucket:
    """Holds `most` tokens, and gains one each `every` seconds. The caller passes the time."""

    __slots__ = ("_every", "_full_at", "_most")

    def __init__(self, most: int, every: float) -> None:
        self._most = most
        self._every = every
        self._full_at = float("-inf")

    def has(self, now: float) -> bool:
        """Is there a token?"""
        return max(now, self._full_at) + self._every <= now + self._most * self._every

    def take(self, now: float) -> None:
        """Take one token. There must be one."""
        self._full_at = max(now, self._full_at) + self._every


class Throttle:
    """Rate-limits lines as a group. Each line says how many were left out before it."""

    def __init__(self, most: int, every: float) -> None:
        self._bucket = Bucket(most, every)
        self._left_out = 0

    def due(self) -> dict[str, int] | None:
        """Fields to add to a line that is written now. None: the line is left out."""
        now = time.monotonic()
        if not self._bucket.has(now):
            self._left_out += 1
            return None
        self._bucket.take(now)
        left_out, self._left_out = self._left_out, 0
        return {"left_out": left_out} if left_out else {}
