"""Mangle: the bytes of an answer are wrong, and the client has to notice.

Rules:
* `correlation_id`: the answer has the id of another request.
* `longer`, `shorter`: its size field is one byte too large or too small. `huge`: the size field says 2 GiB.
* `negative`: the size field says -1. `twice`: the answer comes twice, and the client may take the second for the answer
  to its next request.
* `garbage`: one byte after the correlation id is changed, at a random place.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import Decision, Raw
from rules.trigger import Firing

SIZE, HEAD = 4, 8  # bytes of the size, and of it with the correlation id
HUGE, NEGATIVE = 2**31 - 1, 2**32 - 1  # as they stand in four bytes


class Mangled(Enum):
    """What is wrong with the bytes."""

    CORRELATION_ID = "correlation_id"
    LONGER = "longer"
    SHORTER = "shorter"
    HUGE = "huge"
    NEGATIVE = "negative"
    TWICE = "twice"
    GARBAGE = "garbage"


class MangleAnswer(AnswerEffect):
    """Send an answer with wrong bytes."""

    of_frames: ClassVar = True

    what: Mangled = Field(description="What is wrong with them.", examples=["correlation_id"])

    def apply(self, target: Target, firing: Firing) -> Decision:
        chance = firing.chance("place")
        return Raw(lambda frame: self.mangled(frame, chance))

    def mangled(self, frame: bytes, chance: float) -> bytes:
        """The mangled frame; `chance`, from 0 to 1, selects the place."""
        size, number, body = int.from_bytes(frame[:SIZE]), int.from_bytes(frame[SIZE:HEAD]), frame[HEAD:]
        match self.what:
            case Mangled.CORRELATION_ID:
                number = (number + 1) % 2**31
            case Mangled.LONGER:
                size += 1
            case Mangled.SHORTER:
                size -= 1
            case Mangled.HUGE:
                size = HUGE
            case Mangled.NEGATIVE:
                size = NEGATIVE
            case Mangled.TWICE:
                return frame + frame
            case Mangled.GARBAGE if body:
                place = int(chance * len(body))
                body = body[:place] + bytes([body[place] ^ 0xFF]) + body[place + 1 :]
        return size.to_bytes(SIZE) + number.to_bytes(HEAD - SIZE) + body
