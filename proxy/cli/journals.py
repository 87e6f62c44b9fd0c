"""Journals: the argument JOURNAL of the subcommands of `audit`, their moments, and one line for what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from plugins.audit.reports.asked import moment
from plugins.audit.seals import SEAL
from plugins.audit.segments import segments
from proxy.cli.checked import checked
from proxy.cli.ending import give_up

moment_utc = checked(partial(moment, zone=ZoneInfo("UTC")))
journal_folder = click.argument("journal", type=click.Path(path_type=Path))


def must_be_journal(journal: Path, *, seals_suffice: bool = False) -> None:
    """Anything else ends the command with one line. `seals_suffice`: also if all segments are pruned or deleted."""
    if journal.is_file():
        give_up(f"{journal}: this is a file; give the folder that stands at plugins: audit: journal")
    if not journal.is_dir():
        give_up(f"{journal}: there is no such folder; give the one that stands at plugins: audit: journal")
    if not segments(journal) and not (seals_suffice and any(journal.glob(f"date=*/hour=*/_*.{SEAL}"))):
        give_up(f"{journal}: this is no journal, there is no segment in it; give the folder with date=... in it")


@contextmanager
def reading() -> Iterator[None]:
    """An OSError about a file ends the command with one line that names it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise  # it is about the output: its disk is full, or its reader closed its end
        give_up(f"{error.filename}: cannot be read ({error.strerror}); {way_out(error)}")


def way_out(error: OSError) -> str:
    """What to do about a file that cannot be used."""
    if isinstance(error, FileNotFoundError):
        return "name a file that is there"
    return "name a file in it" if isinstance(error, IsADirectoryError) else "check its permissions"
