"""Requests are held until they are released."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from plugins.faults.effects.hold import LOOKS
from proxy.core.commands import Await, Command, Wake
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


class WaitingTalk(FaultTalk):
    """Also waits for signals. While it is `asleep`, no sleep ends."""

    asleep = False

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Await):
                command.signal.on_release(self, partial(WaitingTalk._wakes, token=command.token))
        super()._carry_out([command for command in commands if not (self.asleep and isinstance(command, Wake))])

    def _wakes(self, token: int) -> None:
        self._happens(self.link.wake(token))


def test_of_all_that_is_held_the_oldest_looks(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, FILE)
    first, second, third = (WaitingTalk(faults, serving) for _ in range(3))

    def first_looks() -> None:
        if len(first.slept) == 1:
            for other in (second, third):
                assert other.ask(produce("orders"), 9) is None
        elif len(first.slept) == 3:
            second.link.release()  # its client has left
            LET_GO["it is released"](faults)

    first.sleeping = first_looks
    assert errors(first.ask(produce("orders"), 9)) == {("orders", 0): "NONE"}
    assert [errors(answer) for answer in third.got] == [{("orders", 0): "NONE"}]
    assert (len(first.slept), second.slept, third.slept) == (3, [], [])


def test_if_the_client_that_came_first_leaves_the_next_one_looks(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, FILE)
    first, second = WaitingTalk(faults, serving), WaitingTalk(faults, serving)
    first.asleep = True
    for talk in (first, second):
        assert talk.ask(produce("orders"), 9) is None
    second.sleeping = lambda: LET_GO["it is released"](faults)
    first.link.release()
    assert [errors(answer) for answer in second.got] == [{("orders", 0): "NONE"}]
    assert second.slept == [LOOKS]
