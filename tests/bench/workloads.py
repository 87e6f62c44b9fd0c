"""What is measured, and what is to be reached.

A workload is one run of the load generator; its figure is what contenders are compared by. Sizes are those of the
record's value: a frame has about 130 bytes more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DIRECT = "direct"  # the contender that is nothing between
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Target:
    """What Doorkeeper is to reach with one figure: at least or at most so much. `share`: of what the other has."""

    figure: str
    limit: float
    at_least: bool = False
    share: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


@dataclass(frozen=True)
class Workload:
    """One line of the report.

    `apart`: clients and brokers have one processor together, the contender has another. So direct has no more of the
    machine than the others have beside theirs, and a share says how far a contender's processor keeps up with clients
    and brokers. Where single requests wait for each other, what counts is how long it takes to wake the next process,
    and all are left where the system puts them. `beside`: the contender whose share is given.
    """

    name: str
    title: str
    options: Mapping[str, str | float]
    figure: str = "requests_per_s"
    target: Target | None = None
    apart: bool = True
    beside: str = DIRECT
    unit: str = ""


def share(limit: float, figure: str = "requests_per_s") -> Target:
    return Target(figure, limit, at_least=True, share=True)


WORKLOADS = (
    Workload("1x100", "1 connection, 100 B", {"connections": 1}, apart=False),
    Workload("50x100", "50 connections, 100 B", {"connections": 50}, target=share(0.68)),
    Workload("500x100", "500 connections, 100 B", {"connections": 500}, target=Target("memory_mb", 60)),
    Workload("10x5", "10 connections, 100 B, 5 in flight", {"connections": 10, "inflight": 5}, target=share(0.6)),
    Workload(
        "16k",
        "8 connections, 16 KiB, 5 in flight",
        {"connections": 8, "inflight": 5, "size": 16 * KIB},
        "mb_per_s",
        share(0.8, "mb_per_s"),
    ),
    Workload("1m-produce", "8 connections, 1 MiB produce", {"connections": 8, "size": MIB}, "mb_per_s"),
    Workload(
        "1m-fetch", "1 connection, 1 MiB fetch", {"api": "fetch", "size": MIB}, "mb_per_s", Target("cpu_s_per_gb", 0.28)
    ),
    Workload("metadata", "4 connections, Metadata of 100 x 10", {"connections": 4, "api": "metadata"}),
    Workload(
        "rate",
        "2,000 requests/s on 10 connections",
        {"connections": 10, "inflight": 5, "rate": 2000},
        "p50_us",
        apart=False,
    ),
)
