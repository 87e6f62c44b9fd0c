"""The workloads, and their targets.

A workload is one run of the load generator; contenders are compared by its figure. Sizes are those of the record's
value: a frame has about 130 bytes more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DIRECT = "direct"  # the contender without a proxy
RELAY, HAPROXY, BEFORE = "relay", "haproxy", "before"  # contenders that targets refer to
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Target:
    """A limit for one of Doorkeeper's figures: at least or at most `limit`, or `limit` times the figure of `of`.

    A share of direct depends on the cost of a wake-up on this machine; a share of another proxy does not.
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
    """At least this share of the other's rate."""
    return Target(figure, limit, at_least=True, of=of)


def cost(limit: float, of: str | None = None, figure: str = "cpu_us_per_request") -> Target:
    """At most this CPU time, or this many times the other's."""
    return Target(figure, limit, of=of)


@dataclass(frozen=True)
class Workload:
    """One line of the report.

    `apart`: clients and brokers share one processor, the contender has another. So in a run with direct, clients and
    brokers have the same processor as with a proxy, and a share says how far a contender's processor keeps up with
    theirs. Where single requests wait for each other, the time to wake the next process decides, and the system is free
    to place all processes. `beside`: the contender that shares refer to.
    """

    name: str
    title: str
    options: Mapping[str, str | float]
    figure: str = "requests_per_s"
    targets: tuple[Target, ...] = ()
    apart: bool = True
    beside: str = DIRECT
    unit: str = ""


NOT_SLOWER = cost(1 / 0.97, BEFORE)  # a target of every workload, where the old commit is measured too

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
