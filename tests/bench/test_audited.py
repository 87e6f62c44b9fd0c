"""The contender that is measured with a journal writes one, beside the rules. Nothing here is about time."""

from pathlib import Path

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from tests.bench.audited import Audited, AuditedInFull
from tests.bench.lane import Lane
from tests.bench.test_rig import few


def kinds(folder: Path) -> set[bytes]:
    lines = (line for path in segments(folder / "bench" / "journal") for line in segment_lines(path))
    return {line.split(b'"')[3] for line in lines}


def test_what_is_measured_is_told_in_summaries(tmp_path: Path) -> None:
    with Lane(Audited(), tmp_path / "bench") as lane:
        assert few(lane, api="produce", connections=2, inflight=3) == 60
    assert b"summary" in kinds(tmp_path)


def test_what_is_measured_is_told_in_full(tmp_path: Path) -> None:
    with Lane(AuditedInFull(), tmp_path / "bench") as lane:
        assert few(lane, api="fetch", connections=2, inflight=3) == 60
    assert b"summary" not in kinds(tmp_path)
    assert b"request" in kinds(tmp_path)
