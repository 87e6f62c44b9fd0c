"""In flight: answers leave in the order their questions came.

Rules:
* A broker answers the requests of one connection in order, so answers are paired by order. The correlation id is only
  checked: clients choose it as they like, and may use one twice at the same time (hazard 11 of the wire).
* A slot is settled exactly once: by the broker's answer, or by ours.
* An answer of ours waits in its slot for older ones. Once it is the oldest it leaves at once, so the oldest slot, while
  nothing else is under way, always waits for the broker.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from proxy.core.context import Context
from proxy.protocol.frame import Buffer

if TYPE_CHECKING:
    from proxy.core.route import Route
    from proxy.core.run import Question

# A slot is a bare tuple: 0.03 us a frame where an object takes 0.12.
#   the broker's answer is due:       (correlation id, its Route, the Context if a handler saw the request)
#   a handler of ours asked:          (correlation id, its Question, None)
#   an answer of ours waits for some: (0, OURS, the answer)
OURS = None
Slot = tuple[int, "Route | Question | None", Any]


class InFlight:
    """The unanswered requests of one connection, oldest first."""

    __slots__ = ("kept", "ours", "slots")

    def __init__(self) -> None:
        self.slots: deque[Slot] = deque()
        self.ours = 0  # how many slots hold an answer of ours
        self.kept = 0  # bytes of these answers

    def settle(self, answer: Buffer) -> None:
        """An answer of ours to the youngest request."""
        self.slots.append((0, OURS, answer))
        self.ours += 1
        self.kept += len(answer)

    def due(self) -> list[Buffer]:
        """Answers of ours that no older request holds up any more."""
        due: list[Buffer] = []
        while self.ours and self.slots[0][1] is OURS:
            due.append(self.slots.popleft()[2])
            self.ours -= 1
            self.kept -= len(due[-1])
        return due

    @property
    def held(self) -> int:
        """Bytes that wait in here: answers of ours, and what handlers noted of requests for their answers."""
        if not self.slots:
            return 0
        contexts = {slot[2] for slot in self.slots if type(slot[2]) is Context}  # requests that are alike share one
        return self.kept + sum(context.held for context in contexts)
