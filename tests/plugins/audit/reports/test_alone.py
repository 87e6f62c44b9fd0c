"""Alone: of two runs that write the same folder, the second says so and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.audit.reports.alone import alone
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.job import ReportError, ReportJob, run
from plugins.audit.reports.pipeline.place import PlaceError
from tests.plugins.audit.written import chain, write


def test_a_folder_is_held_until_the_run_ends_and_another_one_is_free(tmp_path: Path) -> None:
    out, work = tmp_path / "out", tmp_path / "work"
    with alone([out, work, out]):
        for folder in (out, work):
            said = f"^{folder}: another run of the reports writes here; wait for"
            with pytest.raises(PlaceError, match=said), alone([tmp_path / "other", folder]):
                pass
        with alone([tmp_path / "other"]):
            pass
    with alone([out, work]):
        pass


@pytest.mark.parametrize("work", [None, "kept"])
def test_a_second_run_into_a_folder_ends_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    writer = chain(tmp_path / "journal")
    write(writer, range(5))
    writer.end()
    job = ReportJob("journal", tmp_path / "out", (), Inputs(JournalFacts("journal", False)), "local[2]", work)
    held = tmp_path / "out" / "work" if work is None else tmp_path / work
    with alone([held]), pytest.raises(ReportError, match=f"^{held}: another run of the reports writes here"):
        run(job, lambda step: None)


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "work").touch()
    said = r"/work: cannot be written \(File exists\); give another folder"
    with pytest.raises(PlaceError, match=said), alone([tmp_path / "work"]):
        pass
