"""Bucket: so many at once, and after that one each so many seconds.

It is one number, the moment when the bucket is full again (the generic cell rate algorithm): nothing has to refill it.
"""


class Bucket:
    """Holds `most` tokens; a new one comes `every` seconds. Whoever asks has the clock."""

    __slots__ = ("_every", "_full_at", "_most")

    def __init__(self, most: int, every: float) -> None:
        self._most = most
        self._every = every
        self._full_at = float("-inf")

    def has(self, now: float) -> bool:
        """Is there a token?"""
        return max(now, self._full_at) + self._every <= now + self._most * self._every

    def take(self, now: float) -> None:
        """Take one, which is there."""
        self._full_at = max(now, self._full_at) + self._every
