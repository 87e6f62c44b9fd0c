"""Journals: the argument JOURNAL of the subcommands of `audit`, and their moments."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from plugins.audit.reports.asked import moment
from plugins.audit.seals import SEAL
from plugins.audit.segments import segments
from proxy.cli.checked import checked
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH, reading

moment_utc = checked(partial(moment, zone=ZoneInfo("UTC")))
journal_folder = click.argument("journal", type=FILE_PATH)


def must_be_journal(journal: Path, *, seals_suffice: bool = False) -> None:
    """Anything else ends the command with one line. `seals_suffice`: also if all segments are pruned or deleted."""
    if journal.is_file():
        give_up(f"{journal}: this is a file; give the folder that stands at plugins: audit: journal")
    if not journal.is_dir():
        give_up(f"{journal}: there is no such folder; give the one that stands at plugins: audit: journal")
    with reading():
        is_one = segments(journal) or (seals_suffice and any(journal.glob(f"date=*/hour=*/_*.{SEAL}")))
    if not is_one:
        give_up(f"{journal}: this is no journal, there is no segment in it; give the folder with date=... in it")
