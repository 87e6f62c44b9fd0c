"""Records to send: the same every time, compressible and not, with keys, headers, empty and absent values."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE = 60.0  # seconds that anything in a scenario may take
JOINING = 10_000  # milliseconds: a poll that ends while the group is joined makes kafka-python join anew or fall silent


class Record(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def some_records(count: int) -> list[Record]:
    """Records as applications have them, and the odd ones."""
    dice = Random(7)
    odd = [Record(None, b""), Record(b"", b""), Record(b"tombstone", None), Record(None, b"\x00" * 5000)]
    return odd + [
        Record(
            b"key-%d" % (n % 17),
            dice.randbytes(n) if n % 3 else b"a value that repeats itself, " * (n % 50),
            (("trace", b"%d" % n), ("empty", b"")) if n % 5 == 0 else (),
        )
        for n in range(count - len(odd))
    ]


def large_record(size: int) -> Record:
    """One record of so many bytes that do not compress."""
    return Record(b"large", Random(11).randbytes(size))


def digest(value: bytes | None) -> str | None:
    """What stands for a long value in a comparison."""
    return None if value is None else f"{len(value)}:{hashlib.sha256(value).hexdigest()[:16]}"


def patiently(what: str, patience: float = PATIENCE) -> Iterator[None]:
    """Rounds, for as long as it is worth waiting; AssertionError where `what` did not come about in time.

    What is done in each round must itself wait a little (poll a consumer, ask a broker).
    """
    end = time.monotonic() + patience
    while time.monotonic() < end:
        yield
    raise AssertionError(f"not within {patience:.0f} s: {what}")
