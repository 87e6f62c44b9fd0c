"""Replay: faults fire at exactly the matches at which they fired in an earlier run, or at some of them.

    {"fault": "lost-ack", "match": 3}
    {"fault": "lost-ack", "match": 7}

Rules:
* One line of JSON is one firing. A ledger in such lines is a replay too: its entries with the result "fired" count.
* DOORKEEPER_FAULTS_RECORD names a file to which each firing is appended. DOORKEEPER_FAULTS_REPLAY names a file with the
  matches at which faults fire, in place of `nth`, `after`, `times` and `probability`; a fault that it does not name
  never fires. Windows and conditions on other faults stay, since they say which matches are counted.
* Matches are counted anew after each reset, so a recording is of one run of one test, or of one scenario.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from proxy.plugin.files import bounded_lines
from rules.trigger import Firing
from rules.when import When

RECORD, REPLAY = "DOORKEEPER_FAULTS_RECORD", "DOORKEEPER_FAULTS_REPLAY"
NEVER = 0  # matches count from 1
MOST = 100_000  # firings in a file


class ReplayedFiring(NamedTuple):
    """A fault that fired, and the number of the match."""

    fault: str
    match: int

    def __str__(self) -> str:
        return f"{self.fault} at match {self.match}"


class BadReplayError(ValueError):
    """A file is no valid replay. The text is one line for people."""


def read_firings(file: Path) -> list[ReplayedFiring]:
    """The firings in a file, in its order. Raises BadReplayError."""
    found: list[ReplayedFiring] = []
    try:
        with file.open(encoding="utf-8") as stream:
            for number, line in enumerate(bounded_lines(stream), 1):
                said = _said(line, f"{file}:{number}")
                if said is not None:
                    found.append(said)
                if len(found) > MOST:
                    raise BadReplayError(f"{file}: more than {MOST:,} firings; record a shorter run")
    except (OSError, UnicodeDecodeError) as error:
        raise BadReplayError(f"{file}: cannot be read ({getattr(error, 'strerror', error)}); check the path") from None
    return found


def _said(line: str, place: str) -> ReplayedFiring | None:
    if not line.strip():
        return None
    try:
        entry = json.loads(line)
        if entry.get("result", "fired") != "fired":
            return None
        fault, match = entry["fault"], entry["match"]
        if not isinstance(fault, str) or not isinstance(match, int):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        way_out = 'write {"fault": "lost-ack", "match": 3}, or give what "doorkeeper faults ledger --json" printed'
        raise BadReplayError(f"{place}: this is no firing; {way_out}") from None
    return ReplayedFiring(fault, match)


def write_firings(file: Path, firings: Iterable[ReplayedFiring]) -> None:
    """Write a file of firings."""
    file.write_text("".join(map(_line, firings)), encoding="utf-8")


def _line(firing: ReplayedFiring) -> str:
    return json.dumps(firing._asdict()) + "\n"


def only_at(when: When, matches: Iterable[int]) -> When:
    """This `when`, changed so that its fault fires at these matches alone."""
    nth = tuple(sorted(matches)) or (NEVER,)
    return when.model_copy(update={"nth": nth, "after": None, "times": None, "probability": None})


class Replay:
    """The replay and the recording that the environment of this process asks for.

    Raises BadReplayError.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._matches: dict[str, list[int]] | None = None
        replayed, recorded = environment.get(REPLAY), environment.get(RECORD)
        if replayed:
            self._matches = {}
            for fault, match in read_firings(Path(replayed)):
                self._matches.setdefault(fault, []).append(match)
        self._file = Path(recorded) if recorded else None
        self._new: deque[ReplayedFiring] = deque()  # one thread appends, another takes out

    @property
    def is_recording(self) -> bool:
        return self._file is not None

    def when(self, name: str, when: When) -> When:
        """When this fault fires: as its rule says, or as the replay says."""
        return when if self._matches is None else only_at(when, self._matches.get(name, ()))

    def note(self, firing: Firing) -> None:
        """Note a firing for the recording."""
        if self._file is not None:
            self._new.append(ReplayedFiring(firing.rule, firing.match))

    def flush(self) -> None:
        """Append the noted firings to the file, which workers share. Runs in a thread of its own."""
        new = [self._new.popleft() for _ in range(len(self._new))]
        if new and self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write("".join(map(_line, new)))
