"""Requests are held until they are released."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving

FILE = "faults: [{name: held, match: {api: Produce}, do: hold}]"


def begin_anew(faults: FaultFile) -> None:
    """Release it, take it out of the file, and put it back: all between two looks at it."""
    faults.plugin.query("release", {"name": "held"})
    faults.become("faults: []")
    faults.become(FILE)


LET_GO: dict[str, Callable[[FaultFile], object]] = {
    "it is released": lambda faults: faults.plugin.query("release", {"name": "held"}),
    "its fault leaves the file": lambda faults: faults.become("faults: []"),
    "its fault leaves the file and comes back": begin_anew,
    "another configuration comes": lambda faults: faults.plugin.replaced(),
}


@pytest.mark.parametrize("when", LET_GO)
def test_what_is_held_goes_on_when(tmp_path: Path, when: str) -> None:
    faults = FaultFile(tmp_path, FILE)
    talk = FaultTalk(faults, serving)

    def let_go() -> None:
        assert not talk.to_broker
        if len(talk.slept) == 5:
            LET_GO[when](faults)

    talk.sleeping = let_go
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert len(talk.slept) == 5
