"""The comparison: every workload on every lane, in rounds, each in a new random order.

The speed of a shared machine varies from moment to moment. So each share is computed within one round: a contender's
figure divided by that of direct (or of the contender in `beside`). The report gives the median over the rounds. The
memory layout of a process is a matter of luck, lasts as long as the process and shifts its figures by about a tenth, so
each round starts new processes.
Where other programs take a part of the processors all the same, the share by CPU time is the more accurate one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.contenders import Contender
from tests.bench.lane import Lane, Sample
from tests.bench.rig import RigError
from tests.bench.workloads import DIRECT, Workload

Say = Callable[[str], None]


@dataclass(frozen=True)
class Line:
    """One workload's samples, by round and contender; `problems` are the failures, by contender."""

    workload: Workload
    rounds: Sequence[Mapping[str, Sample]]
    problems: Mapping[str, str]

    def value(self, contender: str, figure: str) -> float | None:
        """The median of a figure; None where there is none."""
        values = [getattr(samples[contender], figure) for samples in self.rounds if contender in samples]
        return median(values) if values else None

    def share(self, contender: str, figure: str, of: str | None = None) -> float | None:
        """The median of this contender's figure divided by the other's."""
        return self._beside(contender, figure, of, lambda own, other: own / other)

    def share_by_cpu(self, contender: str, of: str | None = None) -> float | None:
        """The share computed from CPU times, which leaves out the time that other programs took."""
        most = 1.0 if (of or self.workload.beside) == DIRECT else float("inf")
        return self._beside(contender, "slower_us_per_request", of, lambda own, other: min(other / own, most))

    def added(self, contender: str, figure: str) -> float | None:
        """The median of the difference to the other's figure."""
        return self._beside(contender, figure, None, lambda own, other: own - other)

    def _beside(
        self, contender: str, figure: str, of: str | None, compared: Callable[[float, float], float]
    ) -> float | None:
        other = of or self.workload.beside
        pairs = [(each[contender], each[other]) for each in self.rounds if contender in each and other in each]
        return median(compared(getattr(own, figure), getattr(its, figure)) for own, its in pairs) if pairs else None


def compare(
    lanes: Mapping[Contender, Lane], workloads: Iterable[Workload], rounds: int, seconds: float, say: Say
) -> list[Line]:
    """Measure all; a contender that fails at a workload runs it no further, and the line keeps its problem."""
    dice = random.Random()
    lines = []
    for workload in workloads:
        taken: list[dict[str, Sample]] = []
        problems: dict[str, str] = {}
        for turn in range(rounds):
            order = [contender for contender in lanes if contender.name not in problems]
            dice.shuffle(order)
            samples: dict[str, Sample] = {}
            old = set(lanes.values())
            for contender in order:
                lane, name = lanes[contender], contender.name
                say(f"{workload.title}: round {turn + 1} of {rounds}, {name}")
                try:
                    if lane in old:
                        old.remove(lane)
                        lane.renew()
                    lane.turn_to(contender)
                    samples[name] = lane.measure(workload, seconds)
                except RigError as problem:
                    problems[name] = str(problem)
            taken.append(samples)
        lines.append(Line(workload, taken, problems))
    return lines
