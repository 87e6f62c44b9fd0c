"""Exponential backoff: the wait doubles with each failure in a row, up to a longest time."""

MOST_DOUBLINGS = 64  # 2.0 ** 1024 is no float: after hours of failures the computation itself would fail


def backoff(first: float, longest: float, failures: int) -> float:
    """Seconds to wait after so many failures in a row, at least one."""
    return min(first * 2.0 ** min(failures - 1, MOST_DOUBLINGS), longest)
