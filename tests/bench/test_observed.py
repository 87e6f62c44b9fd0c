"""The observer is loaded in the contender that is measured with it, beside the rules. Nothing here is about time."""

from pathlib import Path

from tests.bench.lane import Lane
from tests.bench.observed import Observed
from tests.bench.test_rig import few


def test_the_observer_is_installed_and_what_the_rules_allow_passes(tmp_path: Path) -> None:
    with Lane(Observed(), tmp_path / "bench") as lane:
        assert few(lane, api="produce", connections=2, inflight=3) == 60
        assert few(lane, api="fetch", connections=2, inflight=3) == 60
        assert "topics" in (tmp_path / "bench" / "gateway.yaml").read_text()
