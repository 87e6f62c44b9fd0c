"""`doorkeeper audit verify` and `prune`: is a journal as it was written, and which of its segments go.

Rules:
* The findings of `verify` go to standard output, since they are its result.
* Only `prune` changes the journal, and the proxy that writes it may be running.
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import click

from plugins.audit.keyfile import KeyFileError
from plugins.audit.pruning import prune
from plugins.audit.signing import fingerprint, public_key, signing_key
from plugins.audit.verify import verify
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH, reading
from proxy.cli.journals import journal_folder, moment_utc, must_be_journal
from proxy.text.regular import way_out
from proxy.text.words import printable

VERIFY_EPILOG = """\b
Examples:
  doorkeeper audit verify /var/lib/doorkeeper/journal --key journal.pub
  doorkeeper audit verify JOURNAL --key journal.pub --key before.pub      after a change of the key
  openssl pkey -in journal.key -pubout -out journal.pub                   the public key alone
\b
Exit code: 0 if all is as it was written (gaps that the journal accounts for are told); 1 if not.
"""


@click.command("verify", epilog=VERIFY_EPILOG)
@journal_folder
@click.option(
    "--key",
    "keys",
    type=FILE_PATH,
    multiple=True,
    help="The key that signed it: a PEM file, the public key is enough. May be given several times.",
)
def verify_journal(journal: Path, keys: tuple[Path, ...]) -> None:
    """Say whether JOURNAL is as it was written. If not: which segment, which events, and what was done."""
    must_be_journal(journal, seals_suffice=True)
    with reading():
        try:
            verified = verify(journal, *map(public_key, keys))
        except KeyFileError as error:
            give_up(str(error))
    for remark in verified.remarks:
        click.echo(f"{'gap: ' if remark.gap else ''}{printable(str(remark))}")
    if verified.pruned:
        click.echo(f"{verified.pruned} older segments were pruned by whoever has the key; their seals are there")
    being_written = f", and {verified.open} being written" if verified.open else ""
    click.echo(
        f"{verified.events} events in {verified.segments} sealed segments are as they were written{being_written}"
    )
    for signer in sorted(verified.keys):
        known = "" if keys else "; give the proxy's as --key, since a forger has one too"
        click.echo(f"sealed with the key {fingerprint(signer)}{known}")
    sys.exit(0 if verified.is_intact else 1)


@click.command("prune")
@journal_folder
@click.option(
    "--before", required=True, callback=moment_utc, help="Delete segments whose hour had ended at this time, in UTC."
)
@click.option("--key", type=FILE_PATH, help="The private key of the journal; without it, JOURNAL.key.")
def prune_journal(journal: Path, before: datetime, key: Path | None) -> None:
    """Delete old segments of JOURNAL. Their seals stay, and a signed statement, so that `verify` knows of it."""
    must_be_journal(journal)
    file = key or journal.with_name(f"{journal.name}.key")
    try:
        if not file.exists():
            give_up(f"{file}: there is no such key; name the journal's private key with --key")
        with reading():
            signing = signing_key(file)
        old = list(prune(journal, before, signing, datetime.now(UTC)))
    except KeyFileError as error:
        give_up(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        give_up(f"{error.filename}: cannot be deleted ({error.strerror}); {way_out(error)}")
    deleted = [one for one in old if not one.stays]
    click.echo(f"{len(deleted)} segments deleted, {sum(one.freed for one in deleted):,} bytes; their seals stay")
    left = {one.stays: one.path for one in reversed(old) if one.stays}  # the first of each reason
    many = Counter(one.stays for one in old)
    for why, first in sorted(left.items(), key=lambda one: one[1]):
        click.echo(printable(f"{many[why]} segments stay, as {first}: {why}"), err=True)
    sys.exit(1 if left else 0)
