"""`doorkeeper faults replay`: a recorded run as a file of faults that fire just where they fired then."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plugins.faults.replay import REPLAY, BadReplayError, read_firings, replayed
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH

if TYPE_CHECKING:
    from plugins.faults.model import FaultsFile

REPLAY_EPILOG = f"""\b
Examples:
  doorkeeper faults ledger --json > run.ledger
  doorkeeper faults replay run.ledger --rules faults.yaml > again.yaml
  {REPLAY}=run.ledger pytest tests/test_orders.py     the same, with the faults of the test itself
"""


@click.command("replay", epilog=REPLAY_EPILOG)
@click.argument("ledger", type=FILE_PATH)
@click.option("--rules", type=FILE_PATH, required=True, help="The file of faults that was in force in that run.")
def replay(ledger: Path, rules: Path) -> None:
    """Print faults that fire just where LEDGER says they did."""
    import yaml

    from plugins.faults.model import FORM

    try:
        firings = read_firings(ledger)
        examined = FORM.read(rules)
    except (BadReplayError, OSError) as error:
        give_up(str(error))
    file, problems = examined.result()
    for problem in problems:
        click.echo(problem, err=True)
    if file is None:
        sys.exit(1)
    unknown = {fault for fault, _ in firings} - file.named.keys()
    if unknown:
        give_up(f'{ledger}: {rules} has no fault "{min(unknown)}"; give the file of the run that was recorded')
    _must_be_whole(ledger, file, {fault for fault, _ in firings})
    matches = replayed({name: fault.when for name, fault in file.named.items()}, firings)
    faults = [
        _plain({**said, "name": name, "when": _only_at(said.get("when") or {}, matches[name])})
        for name, said in zip(file.named, examined.reading.value.get("faults") or (), strict=True)
        if matches[name]
    ]
    click.echo(yaml.safe_dump({"seed": file.seed, "faults": faults}, sort_keys=False), nl=False)


def _must_be_whole(ledger: Path, file: FaultsFile, fired: Collection[str]) -> None:
    """End the command if a fault fired, and the other one on which it depends did not."""
    for name in file.names:
        missing = set(file.named[name].when.others.values()) - set(fired)
        if name in fired and missing:
            other = min(missing)
            give_up(f'{ledger}: "{name}" fired, and "{other}" did not, for which it waits; give the whole ledger')


def _only_at(when: dict[str, object], matches: Sequence[int]) -> dict[str, object]:
    """The fault's `when`, with its recorded matches in place of its own choice of matches."""
    windows = {name: value for name, value in when.items() if name in ("from", "for", "after_rule", "while_rule")}
    return {**windows, "nth": matches}


def _plain(value: object) -> object:
    """The same value with lists for tuples, since YAML has lists."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
