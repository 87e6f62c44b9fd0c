"""The report: each contender's share of direct, its cost, and which targets are met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench.compare import Line
from tests.bench.workloads import DIRECT, NOT_SLOWER, RELAY, Target

MEASURED = "doorkeeper"  # the contender that has targets
FLOOR = RELAY  # the contender that does the least work of any proxy
UNITS = {"requests_per_s": "requests/s", "mb_per_s": "MB/s"}
TARGETED = {"memory_mb": "MB resident after it", "cpu_s_per_gb": "CPU s/GB", "cpu_us_per_request": "CPU us a request"}
COSTS = {"CPU us a request": "cpu_us_per_request", "CPU s a GB": "cpu_s_per_gb", "MB resident after": "memory_mb"}


@dataclass(frozen=True)
class Verdict:
    """One target and Doorkeeper's value; `floor` is the relay's value, about the best that this machine allows."""

    title: str
    target: Target
    value: float
    floor: float | None = None

    def __str__(self) -> str:
        if self.target.met(self.value):
            return "met"
        return "NOT MET" if self.floor is None or self.target.met(self.floor) else "NOT MET, nor by the relay"


def verdicts(lines: Iterable[Line], busy: bool) -> Iterator[Verdict]:
    """Doorkeeper's value for each of its targets; on a `busy` machine shares are judged by CPU time."""
    for line in lines:
        for target in (*line.workload.targets, NOT_SLOWER):
            value, unit = reached(line, target, MEASURED, busy)
            if value is not None:
                floor = None if target.of == FLOOR else reached(line, target, FLOOR, busy)[0]
                yield Verdict(f"{line.workload.title}, {unit}", target, value, floor)


def reached(line: Line, target: Target, name: str, busy: bool) -> tuple[float | None, str]:
    """A contender's value for a target, and its unit; None where it was not measured."""
    if target.of is None:
        return line.value(name, target.figure), TARGETED[target.figure]
    if target.figure in TARGETED:
        return line.share(name, target.figure, target.of), f"{TARGETED[target.figure]}, of {target.of}"
    if busy:
        return line.share_by_cpu(name, target.of), f"of {target.of} by CPU time"
    return line.share(name, target.figure, target.of), f"of {target.of}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their content; the first is aligned left, the others right."""
    every = [head, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        return "  ".join([row[0].ljust(len(first)), *rest])

    return "\n".join(map(line, every))


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def comparison(lines: Sequence[Line], names: Sequence[str]) -> Iterator[str]:
    """The tables, one after the other. All workloads have the same contender as `beside`."""
    beside = lines[0].workload.beside
    others = [name for name in names if name != beside]
    paying = [name for name in names if name != DIRECT]
    rated = [line for line in lines if line.workload.figure in UNITS]
    timed = [line for line in lines if line.workload.figure not in UNITS]
    if rated:
        yield table([f"share of {beside}", beside, *others], [shares(line, others) for line in rated])
        allowed = [[line.workload.title, *(number(line.share_by_cpu(name)) for name in others)] for line in rated]
        if others:
            yield table([f"share of {beside} by CPU time", *others], allowed)
    if timed:
        rows = [added(line, figure, others) for line in timed for figure in ("p50_us", "p99_us")]
        yield table(["added latency, us", beside, *others], rows)
    for title, figure in COSTS.items():
        if paying:
            rows = [[line.workload.title, *(number(line.value(name, figure)) for name in paying)] for line in lines]
            yield table([title, *paying], rows)
    if problems := [f"{line.workload.title}: {each}" for line in lines for each in line.problems.values()]:
        yield "\n".join(problems)


def shares(line: Line, names: Iterable[str]) -> list[str]:
    workload = line.workload
    absolute = f"{number(line.value(workload.beside, workload.figure))} {workload.unit or UNITS[workload.figure]}"
    return [workload.title, absolute, *(number(line.share(name, workload.figure)) for name in names)]


def added(line: Line, figure: str, names: Iterable[str]) -> list[str]:
    title = f"{line.workload.title}, {figure.removesuffix('_us')}"
    of_other = number(line.value(line.workload.beside, figure))
    return [title, of_other, *(number(line.added(name, figure)) for name in names)]


def judgement(found: Sequence[Verdict]) -> str:
    rows = [[each.title, str(each.target), number(each.value), number(each.floor), str(each)] for each in found]
    return table(["target", "", "reached", FLOOR, ""], rows)
