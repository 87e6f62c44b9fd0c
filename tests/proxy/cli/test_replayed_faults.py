"""`doorkeeper faults replay`: a recorded run, as a file of faults."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from plugins.faults.model import FORM
from plugins.faults.replay import OUT_OF_REACH, ReplayedFiring, write_firings
from proxy.cli.replayed_faults import replay

RULES = """\
seed: 3
faults:
  - {name: lost, match: {api: Produce}, when: {probability: 0.5, for: 10s}, do: {disconnect: after_broker}}
  - {match: {api: Fetch}, do: {delay: 20ms}}
  - {name: never, do: hold}
"""


def replayed(folder: Path, firings: list[ReplayedFiring], rules: str = RULES) -> Result:
    write_firings(folder / "ledger", firings)
    (folder / "faults.yaml").write_text(rules)
    return CliRunner().invoke(replay, [str(folder / "ledger"), "--rules", str(folder / "faults.yaml")])


def test_a_replay_fires_at_the_same_matches_and_nothing_else(tmp_path: Path) -> None:
    fired = [ReplayedFiring("lost", 7), ReplayedFiring("fault 2", 1), ReplayedFiring("lost", 2)]
    result = replayed(tmp_path, fired)
    assert result.exit_code == 0, result.output
    file = FORM.examine(result.output, "again.yaml", {}).usable()
    assert {name: fault.when.nth for name, fault in file.named.items()} == {"lost": (2, 7), "fault 2": (1,)}
    assert file.named["lost"].when.for_ == 10.0
    assert file.named["lost"].when.probability is None
    assert file.seed == 3


WAITING = """\
faults:
  - {name: down, match: {api: Produce}, when: {probability: 0.5}, do: drop}
  - {name: slow, match: {api: Produce}, when: {while_rule: down}, do: {delay: 20ms}}
"""


def test_a_fault_that_others_fire_with_stays_under_way_in_a_replay_as_it_was(tmp_path: Path) -> None:
    result = replayed(tmp_path, [ReplayedFiring("down", 2), ReplayedFiring("slow", 5)], WAITING)
    file = FORM.examine(result.output, "again.yaml", {}).usable()
    assert file.named["down"].when.nth == (2, OUT_OF_REACH)
    assert file.named["slow"].when.nth == (5,)


def test_a_ledger_without_the_firing_for_which_another_fault_waits_is_told(tmp_path: Path) -> None:
    result = replayed(tmp_path, [ReplayedFiring("slow", 5)], WAITING)
    assert result.exit_code == 1
    said = '"slow" fired, and "down" did not, for which it waits; give the whole ledger'
    assert result.output == f"{tmp_path}/ledger: {said}\n"


def test_a_ledger_of_other_faults_is_told(tmp_path: Path) -> None:
    result = replayed(tmp_path, [ReplayedFiring("other", 1)])
    assert result.exit_code == 1
    assert 'has no fault "other"; give the file of the run that was recorded' in result.output


def test_a_file_that_is_no_ledger_is_told_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text(json.dumps({"fault": "lost"}) + "\n")
    (tmp_path / "faults.yaml").write_text(RULES)
    result = CliRunner().invoke(replay, [str(tmp_path / "ledger"), "--rules", str(tmp_path / "faults.yaml")])
    assert result.exit_code == 1
    assert result.output.startswith(f"{tmp_path}/ledger:1: this is no firing; ")
