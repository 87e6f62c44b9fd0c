"""The cost of ACLs and an observer together: `acl` with 200 rules, and a plugin that reads the topics of requests.

The observer is a third-party plugin: a separate package, found by its entry point.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.acl import Checked, Unchecked
from tests.bench.contenders import Upstream
from tests.bench.workloads import Workload, rate
from tests.real.jars import CHECKOUT

FEW = 200
PLUGIN = '''\
from proxy.plugin import Context, FetchRequest, Plugin, ProduceRequest, Topics, observe_topics


class CountedTopics(Plugin):
    """Counts requests by topic."""

    def __init__(self, options, services):
        super().__init__(options, services)
        self.seen = {}

    @observe_topics(ProduceRequest, FetchRequest)
    def used(self, ctx: Context, topics: Topics) -> None:
        for topic in topics:
            self.seen[topic] = self.seen.get(topic, 0) + 1
'''


class Observed(Checked):
    """With rules, and an observer behind them."""

    reloads = False  # its process needs modules that other contenders do not have
    rules = FEW
    plugins = "[acl: {rules: acl.yaml}, topics]"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        installed = folder / "installed"
        described = installed / "bench_topics-1.dist-info"
        described.mkdir(parents=True, exist_ok=True)
        (installed / "bench_topics.py").write_text(PLUGIN)
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-topics\nVersion: 1\n")
        (described / "entry_points.txt").write_text("[doorkeeper.plugins]\ntopics = bench_topics:CountedTopics\n")
        self._path = f"{CHECKOUT}:{installed}"
        return super().command(folder, upstream, port)

    def python(self) -> Sequence[str]:
        return ["env", f"PYTHONPATH={self._path}", sys.executable]


class CheckedByFew(Checked):
    """With as many rules, and without an observer."""

    name = "acl only"
    rules = FEW


OBSERVED_CONTENDERS = (Observed(), CheckedByFew(), Unchecked())


def observed(name: str, title: str, **options: str | float) -> Workload:
    """A workload of many connections, whose clients send different records with each request."""
    varied = {"connections": 50, "vary": 32, **options}
    targets = (rate(0.85, Unchecked.name),)
    return Workload(f"observed-{name}", f"ACL and observer: {title}", varied, targets=targets, beside=Unchecked.name)


OBSERVED_WORKLOADS = (
    observed("produce", "50 connections, produce, 100 B"),
    observed("fetch", "50 connections, fetch, 100 B", api="fetch"),
    observed("fetch-session", "50 connections, fetch in a session, 100 B", api="fetch", session=1),
)
