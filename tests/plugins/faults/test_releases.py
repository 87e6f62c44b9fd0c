"""A fault holds requests until it is released, changed or removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.faults.overlay import Overlay, load
from plugins.faults.releases import FaultReleases
from proxy.testing import FakeWorker

HELD = "{name: held, do: hold}"
OTHER = "{name: held, do: {hold: after_broker}}"


class Held:
    """The faults of a file, in which one is called "held"."""

    def __init__(self, folder: Path) -> None:
        self._file, self._worker = folder / "faults.yaml", FakeWorker()
        self._file.write_text(f"faults: [{HELD}]")
        self.overlay = Overlay(self._worker.watch("faults", self._file, load))
        self.releases = FaultReleases(self.overlay)
        self.holds = self.releases.holding("held", self.overlay.value.named["held"])

    def become(self, *texts: str) -> None:
        """The file has these faults, one text after the other."""
        for text in texts:
            before = self.overlay.value
            self._file.write_text(f"faults: [{text}]")
            self._worker.look()
            self.releases.follow(before, self.overlay.value)

    def begin_anew(self) -> None:
        """Another generation."""
        self.overlay.prepare({"seed": None, "generation": 1, "faults": []})()


ENDING: dict[str, Callable[[Held], object]] = {
    "it is released": lambda held: held.releases.release("held"),
    "all are released": lambda held: held.releases.release_all(),
    "it is removed": lambda held: held.become("{do: drop}"),
    "it is changed": lambda held: held.become(OTHER),
    "it is removed and comes again": lambda held: held.become("{do: drop}", HELD),
    "all counts begin anew": Held.begin_anew,
}


@pytest.mark.parametrize("when", ENDING)
def test_what_it_holds_goes_on_when(tmp_path: Path, when: str) -> None:
    held = Held(tmp_path)
    assert held.holds()
    ENDING[when](held)
    assert not held.holds()


def test_it_holds_what_comes_after_a_release_and_other_faults_change_nothing(tmp_path: Path) -> None:
    held = Held(tmp_path)
    held.releases.release("other")
    held.become(f"{HELD}, {{do: drop}}")
    assert held.holds()
    held.releases.release("held")
    assert held.releases.holding("held", held.overlay.value.named["held"])()
