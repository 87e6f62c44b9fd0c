"""Backoff: who fails again and again waits twice as long each time, up to a longest time."""

MOST_DOUBLINGS = 64  # 2.0 ** 1024 is no float: after hours of failing there would be one failure more


def backoff(first: float, longest: float, failures: int) -> float:
    """Seconds to wait after so many failures in a row, of which there is one at the least."""
    return min(first * 2.0 ** min(failures - 1, MOST_DOUBLINGS), longest)
