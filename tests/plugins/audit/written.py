"""Journals that tests write, with a fake clock."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.chain import Chain
from plugins.audit.queue import QueuedEvent
from plugins.audit.recovery import newest_seals
from plugins.audit.redacted import Redactor
from plugins.audit.rotation import Rotation

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
START = 1772352000.0  # 2026-03-01T08:00:00Z


class Wall:
    """A fake wall clock in seconds since 1970, set by the test."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


def event(number: int, at: float = START) -> QueuedEvent:
    resource = {"type": "topic", "name": f"orders-{number % 7}", "partition": number % 3, "records": number}
    fields = {
        "api": "Produce",
        "api_version": 9,
        "answered_by": "broker",
        "outcome": "answered",
        "resources": [resource],
    }
    return QueuedEvent("request", at + number / 1000, None, fields)


def chain(
    journal: Path,
    instance: str = "3f9c2a71",
    *,
    wall: Callable[[], float] | None = None,
    rotation: Rotation | None = None,
    key: Ed25519PrivateKey = KEY,
    redactor: Redactor | None = None,
) -> Chain:
    others = newest_seals(journal)
    return Chain(journal, instance, 0, key, wall or Wall(), rotation or Rotation(), others, redactor=redactor)


def write(writer: Chain, numbers: Iterable[int], to_a_frame: int = 10) -> None:
    """Write events, with this many in each frame, and rotate segments between frames."""
    waiting = list(numbers)
    while waiting:
        now, waiting = waiting[:to_a_frame], waiting[to_a_frame:]
        writer.rotate(True)
        for number in now:
            writer.add(event(number))
        writer.flush()
    writer.rotate(False)


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """A full disk: no file may grow beyond the largest one here. Python ignores SIGXFSZ, so a write raises EFBIG."""
    largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
