"""Records to send: the same every time, compressible and not, with keys, headers, empty and absent values."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE = 60.0  # seconds that any step of a scenario may take
JOINING = 10_000  # milliseconds: a poll that ends while the group is being joined makes kafka-python rejoin or hang


class Record(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def some_records(count: int) -> list[Record]:
    """Ordinary and unusual records."""
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
    """One record with this many incompressible bytes."""
    return Record(b"large", Random(11).randbytes(size))


def digest(value: bytes | None) -> str | None:
    """A short text that represents a long value in comparisons."""
    return None if value is None else f"{len(value)}:{hashlib.sha256(value).hexdigest()[:16]}"


def patiently(what: str, patience: float = PATIENCE) -> Iterator[None]:
    """Rounds of a polling loop, which the caller leaves with `break`; AssertionError where `what` takes too long.

    Each round must itself wait a little, by polling a consumer or asking a broker.
    """
    end = time.monotonic() + patience
    while time.monotonic() < end:
        yield
    raise AssertionError(f"not within {patience:.0f} s: {what}")
