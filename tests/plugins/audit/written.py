"""Journals that tests write, with a clock of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.chain import Chain, Rotation
from plugins.audit.queue import QueuedEvent
from plugins.audit.recovery import newest_seals

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
START = 1772352000.0  # 2026-03-01T08:00:00Z


class Wall:
    """Seconds since 1970, as the test says."""

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
) -> Chain:
    others = newest_seals(journal)
    return Chain(journal, instance, 0, key, wall or Wall(), rotation or Rotation(), others)


def write(writer: Chain, numbers: Iterable[int], to_a_frame: int = 10) -> None:
    """Write events, so many to a frame, with rotation between frames."""
    waiting = list(numbers)
    while waiting:
        now, waiting = waiting[:to_a_frame], waiting[to_a_frame:]
        writer.rotate(True)
        for number in now:
            writer.add(event(number))
        writer.flush()
    writer.rotate(False)
