from __future__ import annotations

from pathlib import Path

import pytest

from plugins.faults.replay import (
    RECORD,
    REPLAY,
    BadReplayError,
    RecordingEndedError,
    Replay,
    ReplayedFiring,
    read_firings,
    write_firings,
)
from rules.trigger import Firing, Triggers, new_row
from rules.when import When

FIRINGS = [ReplayedFiring("lost-ack", 3), ReplayedFiring("slow", 1), ReplayedFiring("lost-ack", 7)]


def test_firings_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_firings(tmp_path / "firings", FIRINGS)
    assert read_firings(tmp_path / "firings") == FIRINGS


def test_of_a_ledger_those_that_fired_are_read(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text(
        '{"number": 1, "fault": "a", "match": 1, "result": "not_now"}\n'
        "\n"
        '{"number": 2, "fault": "a", "match": 2, "result": "fired", "api": "Produce"}\n'
    )
    assert read_firings(tmp_path / "ledger") == [ReplayedFiring("a", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "3",
        "[1]",
        "{}",
        '{"fault": 1, "match": 1}',
        '{"fault": "a", "match": null}',
        '{"fault": "a", "match": 0}',
        '{"fault": "a", "match": true}',
    ],
)
def test_a_line_that_is_no_firing_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    file = tmp_path / "firings"
    file.write_text(f'{{"fault": "a", "match": 1}}\n{line}\n')
    with pytest.raises(BadReplayError, match=r"firings:2: this is no firing; write "):
        read_firings(file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadReplayError, match="none: there is no such file; check the path"):
        read_firings(tmp_path / "none")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "bin.dat").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadReplayError, match=r'bin\.dat: not UTF-8 text; give what "doorkeeper faults ledger --json" '):
        read_firings(tmp_path / "bin.dat")


def test_a_fault_fires_at_the_replayed_matches_whatever_chance_says(tmp_path: Path) -> None:
    write_firings(tmp_path / "firings", [ReplayedFiring("a", 2), ReplayedFiring("a", 4)])
    when = When.model_validate({"probability": 0.5, "times": 1, "from": "5s"})
    whens = Replay({REPLAY: str(tmp_path / "firings")}).whens({"a": when})
    triggers = Triggers(whens, 7, {"a": new_row(0.0)})
    assert not isinstance(triggers.ask("a", 1.0), Firing)  # its window is not open: no match
    assert [isinstance(triggers.ask("a", 6.0), Firing) for _ in range(5)] == [False, True, False, True, False]


def test_a_fault_that_is_not_in_the_replay_never_fires(tmp_path: Path) -> None:
    write_firings(tmp_path / "firings", FIRINGS)
    replay = Replay({REPLAY: str(tmp_path / "firings")})
    whens = replay.whens({"lost-ack": When(), "other": When()})
    assert whens["lost-ack"].nth == (3, 7)
    triggers = Triggers(whens, 7, {name: new_row(0.0) for name in whens})
    assert not any(isinstance(triggers.ask("other", 0.0), Firing) for _ in range(5))


def test_without_a_replay_faults_fire_when_they_say() -> None:
    when = When.model_validate({"times": 2})
    assert Replay({}).whens({"a": when}) == {"a": when}
    assert not Replay({}).is_recording


def test_a_recording_that_cannot_be_written_is_told_before_anything_fires(tmp_path: Path) -> None:
    file = tmp_path / "none" / "run.ledger"
    why = r"run.ledger: cannot be written \(No such file or directory\); name another file in DOORKEEPER_FAULTS_RECORD"
    with pytest.raises(BadReplayError, match=why):
        Replay({RECORD: str(file)})


def test_a_recording_ends_when_the_disk_is_full_and_takes_no_memory_from_then_on() -> None:
    replay = Replay({RECORD: "/dev/full"})
    replay.note(Firing("lost-ack", 1, 7))
    with pytest.raises(RecordingEndedError):
        replay.flush()
    replay.note(Firing("lost-ack", 2, 7))
    replay.flush()
    assert not replay.is_recording


def test_what_fires_is_recorded_once_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "firings"
    replay = Replay({RECORD: str(file)})
    for fault, match in FIRINGS:
        replay.note(Firing(fault, match, 7))
        replay.flush()
    replay.flush()
    assert read_firings(file) == FIRINGS


@pytest.mark.parametrize("when", [{}, {"probability": 0.2}, {"times": 2}, {"times": 9, "after": 2}, {"nth": (3, 40)}])
def test_a_replay_is_the_same_run_for_a_fault_that_fires_while_another_is_under_way(
    tmp_path: Path, when: dict[str, object]
) -> None:
    whens = {"a": When.model_validate(when), "b": When.model_validate({"while_rule": "a"})}

    def run(whens: dict[str, When]) -> list[ReplayedFiring]:
        triggers = Triggers(whens, 7, {name: new_row(0.0) for name in whens})
        answers = [triggers.ask(name, 1.0) for _ in range(10) for name in whens]
        return [ReplayedFiring(it.rule, it.match) for it in answers if isinstance(it, Firing)]

    first = run(whens)
    assert {firing.fault for firing in first} == {"a", "b"}
    write_firings(tmp_path / "firings", first)
    assert run(Replay({REPLAY: str(tmp_path / "firings")}).whens(whens)) == first
