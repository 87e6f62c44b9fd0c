"""Pending: what faults are still to do to a request that was matched, and to its answer.

# One fault says how a frame leaves, the first that fires. A second one cannot, and is no firing.
# What one fault answers, and what it ends, the others can do nothing to. Each of them that was meant is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from plugins.faults.effect import Effect
from plugins.faults.fault_set import NamedFault
from proxy.plugin import Cut, Disconnect, Drip, Raw, Reply, Response
from rules.match import Subject

Manner = Raw | Cut | Drip


@dataclass(slots=True)
class PendingFaults:
    """What is to be done yet. `subject`: what the request said for all of it.

    `asks_all`: the request names nothing, and so asks for all.
    """

    subject: Subject
    faults: list[NamedFault] = field(default_factory=list)
    to_answer: list[Callable[[Response], None]] = field(default_factory=list)
    leaving: Manner | None = None  # how the frame leaves
    asks_all: bool = False
    _by: str = ""  # the fault that says so

    def __bool__(self) -> bool:
        return bool(self.faults or self.to_answer or self.leaving)

    def leaves(self, name: str, manner: Manner) -> None:
        """A fault says how the frame leaves."""
        self.leaving, self._by = manner, name

    def cannot(self, effect: Effect) -> str | None:
        """Why an effect cannot be applied beside what others did; None if it can."""
        is_second = effect.of_frames and self.leaving is not None
        return f'"{self._by}" says already how the frame leaves' if is_second else None

    def take_leave(self) -> Manner | None:
        """How the frame leaves, which is over then: its answer is another frame."""
        leaving, self.leaving = self.leaving, None
        return leaving

    def do_all(self, answer: Response) -> bool:
        """Do to an answer what is to be done to it in any case. Gives whether there was anything."""
        for do in self.to_answer:
            do(answer)
        return bool(self.to_answer)


def ended(name: str, decision: Reply | Disconnect) -> str:
    """Why no other fault can be applied any more, once this one decided so."""
    return f'"{name}" answers it' if isinstance(decision, Reply) else f'"{name}" ends the connection'
