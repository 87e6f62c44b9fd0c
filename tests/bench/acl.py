"""The cost of ACLs: Doorkeeper with the plugin `acl` beside Doorkeeper without it, on requests about many topics.

There are 1,000 rules, one of which allows the clients' requests. Each rule is about some of the topics, as in a company
with many teams.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.contenders import Doorkeeper, Upstream
from tests.bench.workloads import KIB, MIB, Workload, rate

RULES = 1_000
TEAMS = 100  # the brokers have this many topics, bench-0 to bench-99


class Unchecked(Doorkeeper):
    """Without rules."""

    name = "without acl"
    reloads = True


class Checked(Doorkeeper):
    """With rules, all of which are enforced."""

    reloads = True
    rules = RULES
    plugins = "[acl: {rules: acl.yaml}]"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        command = super().command(folder, upstream, port)
        with (folder / "gateway.yaml").open("a") as file:
            file.write(f"plugins: {self.plugins}\n")
        rules = [
            f"  - {{allow: User:team-{number}, to: [Read, Write], topics: [bench-{number % TEAMS}, team-{number}-*]}}\n"
            for number in range(self.rules - 2)
        ]
        rules.append("  - {allow: User:*, to: [Read, Write], topics: bench-*}\n")
        rules.append("  - {deny: User:eve, to: All, topics: bench-1*}\n")
        (folder / "acl.yaml").write_text(f"acls:\n{''.join(rules)}")
        return command


ACL_CONTENDERS = (Checked(), Unchecked())


def checked(name: str, title: str, figure: str = "requests_per_s", **options: str | float) -> Workload:
    """A workload whose clients send different records or offsets with each request, as real clients do."""
    varied = {"connections": 10, "inflight": 5, "vary": 32, **options}
    targets = (rate(0.9, Unchecked.name, figure),)
    return Workload(f"acl-{name}", f"ACL: {title}", varied, figure, targets, beside=Unchecked.name)


def fetched(name: str, title: str, topics: int = 1, mixed: int = 0, session: int = 0) -> Workload:
    """Consumers have one fetch under way on a connection."""
    asked: dict[str, str | float] = {"topics": topics, "mixed": mixed, "session": session}
    return checked(name, title, "requests_per_s", api="fetch", size=KIB, connections=50, inflight=1, **asked)


ACL_WORKLOADS = (
    checked("produce-1", "produce, 1 topic, 100 B"),
    checked("produce-20", "produce, 20 topics of 100 B", topics=20),
    checked("produce-20-mixed", "produce, 20 topics of 100 B, mixed", topics=20, mixed=1),
    checked("produce-100", "produce, 100 topics of 100 B", topics=100),
    checked("produce-1x1m", "produce, 1 topic of 1 MiB", "mb_per_s", size=MIB, connections=8, inflight=1, vary=4),
    checked("produce-20x2k", "produce, 20 topics of 2 KiB", "mb_per_s", topics=20, size=2 * KIB),
    fetched("fetch-1", "fetch, 1 topic of 1 KiB"),
    fetched("fetch-session", "fetch in a session, 1 topic of 1 KiB", session=1),
    fetched("fetch-20", "fetch, 20 topics of 1 KiB", topics=20),
    fetched("fetch-20-mixed", "fetch, 20 topics of 1 KiB, mixed", topics=20, mixed=1),
    fetched("fetch-100", "fetch, 100 topics of 1 KiB", topics=100),
    checked(
        "fetch-100x64k", "fetch, 100 topics of 64 KiB", "mb_per_s", api="fetch", topics=100, size=64 * KIB, inflight=1
    ),
)
