"""Replay: faults fire at exactly the matches at which they fired in an earlier run, or at some of them.

    {"fault": "lost-ack", "match": 3}
    {"fault": "lost-ack", "match": 7}

Rules:
* One line of JSON is one firing. A ledger in such lines is a replay too: its entries with the result "fired" count.
* DOORKEEPER_FAULTS_RECORD names a file to which each firing is appended. DOORKEEPER_FAULTS_REPLAY names a file with the
  matches at which faults fire, in place of `nth`, `after`, `times` and `probability`; a fault that it does not name
  never fires. Windows and conditions on other faults stay, since they say which matches are counted. So a fault under
  way (`while_rule`) ends with its last firing only if it ended with it in the recorded run.
* Matches are counted anew after each reset, so a recording is of one run of one test, or of one scenario.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from proxy.plugin.files import bounded_lines, why_unread
from rules.trigger import Firing
from rules.when import When

RECORD, REPLAY = "DOORKEEPER_FAULTS_RECORD", "DOORKEEPER_FAULTS_REPLAY"
NEVER = 0  # matches count from 1
OUT_OF_REACH = 2**53  # no fault has so many matches
MOST = 100_000  # firings in a file
WAY_OUT = 'give what "doorkeeper faults ledger --json" printed'


class ReplayedFiring(NamedTuple):
    """A fault that fired, and the number of the match."""

    fault: str
    match: int

    def __str__(self) -> str:
        return f"{self.fault} at match {self.match}"


class BadReplayError(ValueError):
    """A file is no valid replay. The text is one line for people."""


class RecordingEndedError(Exception):
    """The recording cannot be continued: its file, and why."""


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
    except UnicodeDecodeError:
        raise BadReplayError(f"{file}: not UTF-8 text; {WAY_OUT}") from None
    except OSError as error:
        raise BadReplayError(f"{file}: {why_unread(error)}") from None
    return found


def _said(line: str, place: str) -> ReplayedFiring | None:
    if not line.strip():
        return None
    try:
        entry = json.loads(line)
        if entry.get("result", "fired") != "fired":
            return None
        fault, match = entry["fault"], entry["match"]
        if not isinstance(fault, str) or type(match) is not int or match < 1:
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        way_out = f'write {{"fault": "lost-ack", "match": 3}}, or {WAY_OUT}'
        raise BadReplayError(f"{place}: this is no firing; {way_out}") from None
    return ReplayedFiring(fault, match)


def write_firings(file: Path, firings: Iterable[ReplayedFiring]) -> None:
    """Write a file of firings."""
    file.write_text("".join(map(_line, firings)), encoding="utf-8")


def _line(firing: ReplayedFiring) -> str:
    return json.dumps(firing._asdict()) + "\n"


def replayed(whens: Mapping[str, When], firings: Iterable[ReplayedFiring]) -> dict[str, tuple[int, ...]]:
    """The `nth` with which these faults fire as in these firings, by name; none for a fault that never fires.

    A fault while which another one fires (`while_rule`) is under way until it can fire no more. If it could have fired
    again, it stays under way.
    """
    fired = defaultdict[str, set[int]](set)
    for fault, match in firings:
        fired[fault].add(match)
    awaited = {when.while_rule for when in whens.values()}
    found = {}
    for name, when in whens.items():
        nth = tuple(sorted(fired[name]))
        if nth and name in awaited and not _is_done(when, nth):
            nth = (*nth, OUT_OF_REACH)
        found[name] = nth
    return found


def _is_done(when: When, nth: Sequence[int]) -> bool:
    """Whether a fault that fired at these matches can fire no more."""
    return (when.times is not None and len(nth) >= when.times) or (when.last is not None and when.last <= nth[-1])


class Replay:
    """The replay and the recording that the environment of this process asks for.

    Raises BadReplayError.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        given, recorded = environment.get(REPLAY), environment.get(RECORD)
        self._firings = read_firings(Path(given)) if given else None
        self._file = Path(recorded) if recorded else None
        if self._file is not None:
            try:
                self._file.open("a").close()
            except OSError as error:
                way_out = f"name another file in {RECORD}"
                raise BadReplayError(f"{recorded}: cannot be written ({error.strerror}); {way_out}") from None
        self._new: deque[ReplayedFiring] = deque()  # one thread appends, another takes out

    @property
    def is_recording(self) -> bool:
        return self._file is not None

    def whens(self, whens: Mapping[str, When]) -> dict[str, When]:
        """When these faults fire: as their rules say, or as the replay says."""
        if self._firings is None:
            return dict(whens)
        only = {"after": None, "times": None, "probability": None}
        return {
            name: whens[name].model_copy(update={**only, "nth": nth or (NEVER,)})
            for name, nth in replayed(whens, self._firings).items()
        }

    def note(self, firing: Firing) -> None:
        """Note a firing for the recording."""
        if self._file is not None:
            self._new.append(ReplayedFiring(firing.rule, firing.match))

    def flush(self) -> None:
        """Append the noted firings to the file, which workers share. Runs in a thread of its own.

        Raises RecordingEndedError once if the disk is full, for example. No more is recorded then, as a recording with
        a gap would be another run.
        """
        new = [self._new.popleft() for _ in range(len(self._new))]
        file = self._file
        if not new or file is None:
            return
        try:
            with file.open("a", encoding="utf-8") as stream:
                stream.write("".join(map(_line, new)))
        except OSError as error:
            self._file = None
            raise RecordingEndedError(file, error.strerror) from None
