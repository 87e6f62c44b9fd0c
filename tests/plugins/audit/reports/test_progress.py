"""Progress: each step is told with all that is done by then."""

from __future__ import annotations

from plugins.audit.reports.progress import Progressed, WorkProgress


def test_each_step_is_told_with_what_is_done_of_all_parts() -> None:
    told: list[Progressed] = []
    progress = WorkProgress(told.append)
    progress.total = 5
    progress.step("segments are read", 3)
    progress.total += 1
    progress.step("access")
    assert told == [Progressed(3, 5, "segments are read"), Progressed(4, 6, "access")]
