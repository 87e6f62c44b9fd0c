"""What is measured, and what is to be reached.

A workload is one run of the load generator; its figure is what contenders are compared by. Sizes are those of the
record's value: a frame has about 130 bytes more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DIRECT = "direct"  # the contender that is nothing between
RELAY, HAPROXY, BEFORE = "relay", "haproxy", "before"  # those that targets are shares of
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Target:
    """What Doorkeeper is to reach with one figure: at least or at most so much; of what the contender `of` has, if any.

    A share of direct says what a wake-up costs on this machine; shares of another proxy do not depend on it.
    """

    figure: str
    limit: float
    at_least: bool = False
    of: str | None = None

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


def rate(limit: float, of: str, figure: str = "requests_per_s") -> Target:
    """At least so much of the other's rate."""
    return Target(figure, limit, at_least=True, of=of)


def cost(limit: float, of: str | None = None, figure: str = "cpu_us_per_request") -> Target:
    """At most so much CPU time, or so many times the other's."""
    return Target(figure, limit, of=of)


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
    targets: tuple[Target, ...] = ()
    apart: bool = True
    beside: str = DIRECT
    unit: str = ""


NOT_SLOWER = cost(1 / 0.97, BEFORE)  # on every line, where the old commit is measured, too

WORKLOADS = (
    Workload("1x100", "1 connection, 100 B", {"connections": 1}, apart=False),
    Workload("50x100", "50 connections, 100 B", {"connections": 50}, targets=(rate(0.75, HAPROXY),)),
    Workload(
        "500x100",
        "500 connections, 100 B",
        {"connections": 500},
        targets=(rate(0.8, HAPROXY), Target("memory_mb", 60)),
    ),
    Workload(
        "10x5",
        "10 connections, 100 B, 5 in flight",
        {"connections": 10, "inflight": 5},
        targets=(rate(0.65, HAPROXY),),
    ),
    Workload(
        "16k",
        "8 connections, 16 KiB, 5 in flight",
        {"connections": 8, "inflight": 5, "size": 16 * KIB},
        "mb_per_s",
        (rate(0.85, HAPROXY, "mb_per_s"),),
    ),
    Workload(
        "1m-produce",
        "8 connections, 1 MiB produce",
        {"connections": 8, "size": MIB},
        "mb_per_s",
        (cost(1.15, RELAY),),
    ),
    Workload("1m-fetch", "1 connection, 1 MiB fetch", {"api": "fetch", "size": MIB}, "mb_per_s", (cost(1.15, RELAY),)),
    Workload(
        "8x1m-fetch",
        "8 connections, 1 MiB fetch",
        {"connections": 8, "api": "fetch", "size": MIB},
        "mb_per_s",
        (cost(1.15, RELAY),),
    ),
    Workload("metadata", "4 connections, Metadata of 100 x 10", {"connections": 4, "api": "metadata"}),
    Workload(
        "rate",
        "2,000 requests/s on 10 connections",
        {"connections": 10, "inflight": 5, "rate": 2000},
        "p50_us",
        (cost(70),),
        apart=False,
    ),
)
