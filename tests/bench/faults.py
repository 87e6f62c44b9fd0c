"""The cost of faults that never fire: Doorkeeper with the plugin `faults` beside Doorkeeper without it.

The rules are about other topics, clients and principals than those of the load: each request has to be compared with
all rules, and none matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.contenders import Doorkeeper, Upstream
from tests.bench.workloads import Workload, rate

KINDS = ("topic: other-{}*", "client_id: other-{}", "topic: other-{}, partition: 0", "principal: User:other-{}")


def faults_file(rules: int) -> str:
    """A file with this many rules, none of which matches."""
    matches = (KINDS[number % len(KINDS)].format(number) for number in range(rules))
    return "faults:\n" + "".join(f"  - {{match: {{{match}}}, do: {{delay: 1s}}}}\n" for match in matches)


class Unharmed(Doorkeeper):
    """Without the plugin."""

    name = "without faults"
    reloads = True


class Unmatched(Doorkeeper):
    """With this many rules, none of which matches."""

    reloads = True

    def __init__(self, rules: int) -> None:
        self.rules = rules
        self.name = f"{rules} rules"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        command = super().command(folder, upstream, port)
        file = folder / f"faults-{self.rules}.yaml"
        file.write_text(faults_file(self.rules))
        with (folder / "gateway.yaml").open("a") as gateway:
            gateway.write(f"plugins: [faults: {{rules: {file.name}}}]\n")
        return command


FAULTS_CONTENDERS = (Unmatched(0), Unmatched(1), Unmatched(20), Unmatched(100), Unharmed())


def unmatched(name: str, title: str, **options: str | float) -> Workload:
    """A workload whose clients send different records or offsets with each request."""
    varied = {"vary": 32, **options}
    targets = (rate(0.95, Unharmed.name),)
    return Workload(f"faults-{name}", f"Faults: {title}", varied, targets=targets, beside=Unharmed.name)


FAULTS_WORKLOADS = (
    unmatched("produce-50", "50 connections, produce, 100 B", connections=50),
    unmatched("produce-10x5", "10 connections, produce, 100 B, 5 in flight", connections=10, inflight=5),
    unmatched("fetch-50", "50 connections, fetch, 100 B", connections=50, api="fetch"),
    unmatched("fetch-10x5", "10 connections, fetch, 100 B, 5 in flight", connections=10, inflight=5, api="fetch"),
)
