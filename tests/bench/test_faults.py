"""The rules are in force in the contender that is measured with them, and match nothing. Nothing here is about time."""

from pathlib import Path

from tests.bench.faults import KINDS, Unmatched
from tests.bench.lane import Lane
from tests.bench.test_rig import few


def test_what_no_rule_matches_passes(tmp_path: Path) -> None:
    with Lane(Unmatched(len(KINDS)), tmp_path / "bench") as lane:
        assert few(lane, api="produce", connections=2, inflight=3) == 60
        assert few(lane, api="fetch", connections=2, inflight=3) == 60
        assert "faults" in (tmp_path / "bench" / "gateway.yaml").read_text()
