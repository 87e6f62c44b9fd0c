"""A token bucket allows its whole capacity at once, and then one at a time."""

from proxy.logs.bucket import Bucket


def taken(bucket: Bucket, now: float, tries: int = 100) -> int:
    count = 0
    for _ in range(tries):
        if bucket.has(now):
            bucket.take(now)
            count += 1
    return count


def test_it_holds_so_many_and_gets_one_back_at_a_time() -> None:
    bucket = Bucket(3, 10.0)
    assert [taken(bucket, now) for now in (5.0, 5.0, 14.9, 15.0, 36.0)] == [3, 0, 0, 1, 2]


def test_it_never_holds_more_than_it_may() -> None:
    bucket = Bucket(3, 10.0)
    assert [taken(bucket, now) for now in (0.0, 1e9)] == [3, 3]
