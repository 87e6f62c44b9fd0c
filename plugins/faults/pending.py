"""Pending: what faults still have to do to a request that was matched, and to its answer.

Rules:
* Only one fault decides how a frame leaves, the first that fires. A second one cannot be applied, and has not fired.
* After one fault has answered a request or ended its connection, no other can be applied. Each that was meant is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plugins.faults.effect import Effect
from plugins.faults.fault_set import NamedFault
from proxy.plugin import Cut, Disconnect, Drip, Raw, Reply, Response
from rules.match import Subject

AnswerManner = Raw | Cut | Drip


@dataclass(slots=True)
class PendingFaults:
    """What is still to be applied. `subject`: the request as a whole; `leaving`: how the frame leaves.

    `asks_all`: the request has no list, and so asks for all. `births`: of the faults in force when the request came.
    `open`: the names of faults on the answer that are about it only if it shows what they are about.
    """

    subject: Subject
    births: Mapping[str, int] = field(default_factory=dict)
    faults: list[NamedFault] = field(default_factory=list)
    to_answer: list[Callable[[Response], None]] = field(default_factory=list)
    leaving: AnswerManner | None = None  # of the frame that leaves next
    asks_all: bool = False
    open: set[str] = field(default_factory=set)
    _by: str = ""  # the fault that decided how the frame leaves

    def __bool__(self) -> bool:
        return bool(self.faults or self.to_answer or self.leaving)

    def leaves(self, name: str, manner: AnswerManner | None) -> None:
        """A fault decided how the frame leaves; None: several times."""
        self.leaving, self._by = manner, name

    def cannot(self, effect: Effect) -> str | None:
        """Why an effect cannot be applied after what other faults did; None if it can."""
        is_second = effect.of_frames and self._by
        return f'"{self._by}" says already how the frame leaves' if is_second else None

    def take_leaving(self) -> AnswerManner | None:
        """How the frame leaves. It is forgotten, because the answer is another frame."""
        leaving, self.leaving = self.leaving, None
        return leaving

    def next_frame(self) -> None:
        """The answer comes, and no fault has decided yet how it leaves."""
        self.leaving, self._by = None, ""

    def do_all(self, answer: Response) -> bool:
        """Make the changes to an answer that were noted at its request. Returns whether there were any."""
        for do in self.to_answer:
            do(answer)
        return bool(self.to_answer)


def ended(name: str, decision: Reply | Disconnect) -> str:
    """Why no other fault can be applied after this decision."""
    return f'"{name}" answers it' if isinstance(decision, Reply) else f'"{name}" ends the connection'
