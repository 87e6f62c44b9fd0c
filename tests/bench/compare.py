"""The comparison: every workload on every lane, in rounds, in an order that is shuffled anew each time.

A shared machine is quicker at one moment and slower at the next. So a share is taken within a round, of what direct
(or whoever the workload is measured beside) got in that round, and what is reported is the median over the rounds.
Each round has processes of its own: where a process's memory lies is luck that it keeps (a tenth more or less).
Where other programs take a part of the processors all the same, the share that the CPU time allows is the truer one.
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
    """One workload's samples, round by round, by contender; `problems` are of those who failed at it."""

    workload: Workload
    rounds: Sequence[Mapping[str, Sample]]
    problems: Mapping[str, str]

    def value(self, contender: str, figure: str) -> float | None:
        """The median of a figure; None where there is none."""
        values = [getattr(samples[contender], figure) for samples in self.rounds if contender in samples]
        return median(values) if values else None

    def share(self, contender: str, figure: str, of: str | None = None) -> float | None:
        """The median share of what the other got."""
        return self._beside(contender, figure, of, lambda own, other: own / other)

    def share_by_cpu(self, contender: str, of: str | None = None) -> float | None:
        """The share that the CPU time allows, whatever other programs took of the processors meanwhile."""
        most = 1.0 if (of or self.workload.beside) == DIRECT else float("inf")
        return self._beside(contender, "slower_us_per_request", of, lambda own, other: min(other / own, most))

    def added(self, contender: str, figure: str) -> float | None:
        """The median of what is more than the other's."""
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
    """Measure all; a contender that fails at a workload is left out of that line, and its problem kept."""
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
