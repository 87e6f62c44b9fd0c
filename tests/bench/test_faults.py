"""The rules are in force in the contender that is measured with them, and match nothing. Nothing here is about time."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench.contenders import Upstream
from tests.bench.faults import KINDS, Unharmed, Unmatched
from tests.bench.lane import Lane
from tests.bench.rig import RigError
from tests.bench.test_rig import few


def test_what_no_rule_matches_passes(tmp_path: Path) -> None:
    with Lane(Unmatched(len(KINDS)), tmp_path / "bench") as lane:
        assert few(lane, api="produce", connections=2, inflight=3) == 60
        assert few(lane, api="fetch", connections=2, inflight=3) == 60
        assert "faults" in (tmp_path / "bench" / "gateway.yaml").read_text()


class Wrong(Unmatched):
    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        command = super().command(folder, upstream, port)
        (folder / "gateway.yaml").write_text("clusters: []")
        return command


def test_with_and_without_take_turns_in_one_process(tmp_path: Path) -> None:
    without, with_rules = Unharmed(), Unmatched(len(KINDS))
    with Lane(without, tmp_path / "bench") as lane:
        assert lane.proxy.program is not None
        process = lane.proxy.program.pid
        for contender in (without, with_rules, without, with_rules):
            lane.turn_to(contender)
            assert few(lane, api="produce", connections=2, inflight=3) == 60
        assert lane.proxy.program.pid == process
        assert lane.proxy.program.output().count("configuration reloaded") == 3
        with pytest.raises(RigError, match="does not become"):
            lane.turn_to(Wrong(1))
        lane.proxy.program.kill()
        with pytest.raises(RigError, match="does not become"):
            lane.turn_to(Unmatched(1))
