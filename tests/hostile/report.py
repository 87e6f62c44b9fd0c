"""The report: a table in Markdown, one line a case, and below it a sum and the logs of cases that did not hold."""

from __future__ import annotations

from collections.abc import Sequence

from tests.hostile.trial import KEPT, LATER, Row
from tests.hostile.watch import MIB

COLUMNS = (
    "class", "attack", "on", "held", "what was seen", "canary p99", "new clients p99", "peak", "kept", "descriptors",
    "log", "s",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
ROW = "attack"  # the property of a test that is its row


def line(row: Row) -> str:
    """One row of the table."""
    held = "no: " + "; ".join(row.wrong) if row.wrong else "yes"
    cells = (
        row.case.group,
        row.case.name,
        row.case.on.name,
        held,
        row.seen,
        "halted" if row.case.halted else _later(row.later),
        "refused" if row.case.crowded else "halted" if row.case.halted else _later(row.later_anew),
        f"{row.peak / MIB:+.0f} MiB",
        f"{row.kept / MIB:+.0f} MiB" + (" NOT MET" if row.kept > KEPT * MIB else ""),
        f"{row.descriptors:+d}",
        f"{row.lines} lines, {row.log:,} B",
        f"{row.seconds:.1f}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _later(seconds: float) -> str:
    return f"+{seconds * 1000:.0f} ms" + (" NOT MET" if seconds > LATER else "")


def total(rows: Sequence[Row]) -> str:
    """How many cases held, and how many met the goal for the canary's latency."""
    held = sum(not row.wrong for row in rows)
    met = sum(row.later <= LATER or row.case.halted for row in rows)
    took = sum(row.seconds for row in rows)
    return (
        f"{held} of {len(rows)} attacks held, in {took:.0f} s. The canary's p99 grew by at most {LATER * 1000:.0f} ms "
        f"with {met} of them."
    )


def logs(rows: Sequence[Row]) -> str:
    """What the proxy logged during each case that did not hold."""
    failed = (row for row in rows if row.wrong)
    return "\n".join(f"\n{row.case.name} ({row.case.on.name}):\n{row.said or 'nothing was logged'}" for row in failed)
