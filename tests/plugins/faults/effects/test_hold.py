"""Requests are held until somebody lets them go."""

from pathlib import Path

import pytest

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


@pytest.mark.parametrize("released", [True, False])
def test_what_is_held_goes_on_when_it_is_released_or_its_fault_leaves_the_file(tmp_path: Path, released: bool) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: hold}]")
    talk = FaultTalk(faults, serving)

    def let_go() -> None:
        assert not talk.to_broker
        if len(talk.slept) == 5:
            faults.plugin.release() if released else faults.become("faults: []")

    talk.sleeping = let_go
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert len(talk.slept) == 5
