"""Clock: the time as `net` last told it. Core reads it and never asks for it."""


class Clock:
    """`now` is in seconds of a monotonic clock; `net` sets it at each wake-up, once for all links of a worker."""

    __slots__ = ("now",)

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
