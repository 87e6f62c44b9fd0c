"""Interrupted: Ctrl-C while a client of confluent-kafka works.

confluent-kafka loses what a callback raises, KeyboardInterrupt too, and its method then ends with a SystemError.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C within this raises KeyboardInterrupt in every case. To be used in the main thread."""
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except SystemError:
        if not came:
            raise
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)
