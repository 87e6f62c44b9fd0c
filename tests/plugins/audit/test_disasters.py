"""A writer is killed at any call of the system, or the disk refuses any: the journal is never said to be altered.

Each example is three lives of a proxy with one journal, and a fourth that recovers it.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plugins.audit.contents import segment_lines
from plugins.audit.journal import Journal, JournalError
from plugins.audit.rotation import Rotation
from plugins.audit.segments import segments
from plugins.audit.verify import verify
from proxy.testing import FakeClock, FakeWorker
from tests.plugins.audit.written import START

SEEDS = [*range(15), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(15, 60))]
LIVES = 3
CALLS = ("open", "write", "fsync", "fdatasync", "rename", "mkdir", "unlink", "ftruncate")
NEEDED = ("unlink", "ftruncate")  # what a full disk does not refuse


class KilledError(BaseException):
    """The process is gone."""


class Machine:
    """The calls of the system. After `left` calls the process is killed. `failing`: the probability that one fails."""

    def __init__(self, folder: Path, dice: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.failing = 0.0
        self._folder, self._dice = folder, dice
        for name in CALLS:
            monkeypatch.setattr(os, name, partial(self._call, name, getattr(os, name)))

    def restart(self) -> None:
        """Another life begins: the files of the last one are closed."""
        self.left, self.failing = None, 0.0
        gc.collect()  # closes those that Python opened
        for fd in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # that of this very look
                if Path(os.readlink(f"/proc/self/fd/{fd}")).is_relative_to(self._folder):
                    os.close(int(fd))

    def _call(self, name: str, real: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if self.left is not None:
            self.left -= 1
            if self.left <= 0:
                if self.left == 0:
                    self._in_the_middle(name, real, args, named)
                raise KilledError
        if self._dice.random() < self.failing and name not in NEEDED:
            if name == "write":
                real(args[0], args[1][: self._dice.randrange(len(args[1]))])
            raise OSError(errno.EMFILE if name == "open" else errno.ENOSPC, "no room")
        return real(*args, **named)

    def _in_the_middle(self, name: str, real: Callable[..., Any], args: Any, named: Any) -> None:
        """The call was carried out, or not, or in part."""
        if name == "write":
            real(args[0], args[1][: self._dice.randrange(len(args[1]) + 1)])
        elif self._dice.random() < 0.5:
            real(*args, **named)


class Lives:
    """The lives of a proxy with one journal."""

    def __init__(self, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("plugins.audit.journal.AGAIN", 0.0)
        self.folder = folder / "journal"
        self.dice, self.clock, self.worker = random.Random(seed), FakeClock(since_1970=START), FakeWorker()
        self.machine = Machine(folder, self.dice, monkeypatch)
        self.events = self._number = 0

    def begin(self) -> Journal:
        """The journal of the next life."""
        self._number += 1
        rotation = Rotation(size=self.dice.choice([300, 3_000, 1 << 20]), age=10.0)
        key = self.folder.with_name("journal.key")
        return Journal(self.folder, key, f"3f9c2a7{self._number}", 0, self.worker.tell, self.clock, rotation)

    def is_open(self, journal: Journal) -> bool:
        """Open it, though it may begin later. False: another error than one of the disk prevented that."""
        try:
            journal.open(may_wait=True)
        except JournalError:
            return False
        return True

    def work(self, journal: Journal) -> None:
        """Write some events, at times that go on, jump and go back."""
        for _ in range(self.dice.randrange(1, 12)):
            for _ in range(self.dice.randrange(5)):
                self.events += 1
                journal.put("request", self.clock.since_1970, {"correlation_id": self.events})
            self.clock.since_1970 += self.dice.choice([0, 1, 20, 4_000, -4_000])
            journal.work()

    def recover(self) -> set[int]:
        """The last life. Returns the numbers of all events in the journal, each of which is there once."""
        self.machine.restart()
        journal = self.begin()
        journal.open()
        journal.close()
        lines = [json.loads(line) for path in segments(self.folder) for line in segment_lines(path)]
        found = Counter(line["correlation_id"] for line in lines if line["kind"] == "request")
        assert set(found.values()) <= {1}
        return set(found)

    def said(self) -> list[str]:
        """What is said to be altered."""
        return [str(remark) for remark in verify(self.folder).remarks if not remark.gap]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_writer_that_is_killed_leaves_gaps_at_the_most(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives = Lives(tmp_path, seed, monkeypatch)
    for _ in range(LIVES):
        lives.machine.left = lives.dice.randrange(1, 80)
        with suppress(KilledError):
            journal = lives.begin()
            journal.open()
            lives.work(journal)
            journal.close()
        lives.machine.restart()
    lives.recover()
    assert lives.said() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_disk_that_refuses_costs_no_event_unless_it_is_told(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives = Lives(tmp_path, seed, monkeypatch)
    for _ in range(LIVES):
        journal = lives.begin()
        lives.machine.failing = lives.dice.choice([0.02, 0.1])
        while not lives.is_open(journal):
            pass
        lives.work(journal)
        if lives.dice.random() < 0.7:
            lives.machine.failing = 0.0  # there is room again
        journal.close()
        lives.machine.restart()
    is_whole = lives.recover() == set(range(1, lives.events + 1))
    assert is_whole or any("lost" in event for event, _ in lives.worker.lines)
    assert lives.said() == []
