"""The cost of the audit journal on top of ACLs: each level, compared with the same proxy without a journal.

Measured in turn in one process on a nearly quiet machine, requests a second: `summary` 0.94 and 0.91 (two runs), Fetch
1.05, 16 KiB 0.96; `full` 0.69 and 0.76, Fetch 0.79. With other intervals for switching threads than 5 ms, at `full`:
0.98 of that with 20 ms, 0.91 with 1 ms, 0.83 with 0.5 ms, 0.88 with 0.1 ms; at `summary` the difference is noise. The
writer's thread lets go of the interpreter often enough: there are 35 switches in 1,000 requests at `full`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.acl import Checked
from tests.bench.contenders import Upstream
from tests.bench.workloads import KIB, Workload, rate

FEW = 200


class Unaudited(Checked):
    """With rules, and without a journal."""

    name = "without audit"
    rules = FEW


class Audited(Checked):
    """With rules, and a journal that records Produce and Fetch at this `level`."""

    rules = FEW
    level = "summary"
    plugins = "[acl: {rules: acl.yaml}, audit: {journal: journal, levels: audit.yaml}]"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        (folder / "audit.yaml").write_text(f"levels: [{{level: {self.level}}}]\n")
        return super().command(folder, upstream, port)


class AuditedInFull(Audited):
    """With an event for each request."""

    name = "doorkeeper, full"
    level = "full"


AUDITED_CONTENDERS = (Audited(), AuditedInFull(), Unaudited())


def audited(name: str, title: str, share: float, figure: str = "requests_per_s", **options: str | float) -> Workload:
    """A workload whose clients send different records with each request."""
    targets = (rate(share, Unaudited.name, figure),)
    return Workload(
        f"audited-{name}", f"audit: {title}", {"vary": 32, **options}, figure, targets, beside=Unaudited.name
    )


AUDITED_WORKLOADS = (
    audited("produce", "50 connections, produce, 100 B", 0.85, connections=50),
    audited("fetch", "50 connections, fetch, 100 B", 0.85, connections=50, api="fetch"),
    audited("16k", "8 connections, produce, 16 KiB", 0.95, "mb_per_s", connections=8, inflight=5, size=16 * KIB),
)
