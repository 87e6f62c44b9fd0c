"""`doorkeeper audit`: is a journal as it was written, what is in it, and what comes into it.

# Events go to standard output, one a line; what is wrong with a journal too: it is what `verify` was asked for.
# The journal is only read. It may be that of a running proxy.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import click

from plugins.audit.search import EventFilter, Follower, JournalEvent, latest, search
from plugins.audit.segments import segments
from plugins.audit.shown import shown
from plugins.audit.signing import KeyFileError, fingerprint, public_key
from plugins.audit.verify import verify
from proxy.text.words import printable

VERIFY_EPILOG = """\b
Examples:
  doorkeeper audit verify /var/lib/doorkeeper/journal --key journal.pub
  openssl pkey -in journal.key -pubout -out journal.pub      the public key alone
\b
Exit code: 0 if all is as it was written (gaps that the journal accounts for are told); 1 if not.
"""
SEARCH_EPILOG = """\b
Examples:
  doorkeeper audit search JOURNAL --principal User:alice --resource 'payments-*' --from 2026-03-01 --to 2026-04-01
  doorkeeper audit search JOURNAL --error TOPIC_AUTHORIZATION_FAILED --json
  doorkeeper audit search JOURNAL --kind authentication_failed
\b
Exit code: 0 if something was found; 1 if not.
"""
LOOK = 0.2  # seconds between two looks for new events
TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"])
as_json = click.option("--json", "raw", is_flag=True, help="Print events as they stand in the journal.")
journal_folder = click.argument("journal", type=click.Path(path_type=Path))


@click.group("audit")
def command() -> None:
    """Verify, search and follow the JOURNAL that a proxy with `plugins: [audit: {journal: JOURNAL}]` writes."""


@command.command("verify", epilog=VERIFY_EPILOG)
@journal_folder
@click.option(
    "--key", type=click.Path(path_type=Path), help="The key that signed it: a PEM file, the public key is enough."
)
def verify_(journal: Path, key: Path | None) -> None:
    """Say whether JOURNAL is as it was written, and if not: which segment, which events, and what was done."""
    _must_be_journal(journal)
    try:
        trusted = None if key is None else public_key(key)
        verified = verify(journal, trusted)
    except KeyFileError as error:
        _give_up(str(error))
    except OSError as error:
        _give_up(f"{error.filename}: cannot be read ({error.strerror}); check its permissions")
    for remark in verified.remarks:
        click.echo(f"{'gap: ' if remark.gap else ''}{remark}")
    being_written = f", and {verified.open} being written" if verified.open else ""
    click.echo(
        f"{verified.events} events in {verified.segments} sealed segments are as they were written{being_written}"
    )
    for signer in sorted(verified.keys):
        known = "" if key else "; give the proxy's as --key, since a forger has one too"
        click.echo(f"sealed with the key {fingerprint(signer)}{known}")
    sys.exit(0 if verified.is_intact else 1)


@command.command("search", epilog=SEARCH_EPILOG)
@journal_folder
@click.option("--from", "since", type=TIME, help="Events at that time and later, in UTC.")
@click.option("--to", "until", type=TIME, help="Events before that time.")
@click.option("--kind", help="Events of this kind: request, authentication_failed, ...")
@click.option("--principal", help='Of this principal, as Kafka writes it: "User:alice".')
@click.option("--resource", help="About the topic, group, ... of this name.")
@click.option("--api", help="Requests of this API: Produce, Fetch, CreateAcls, ...")
@click.option("--error", help="Requests that were answered with this error.")
@click.option("--client", help="Of a client with this address or client id.")
@as_json
def search_(journal: Path, raw: bool, since: datetime | None, until: datetime | None, **wanted: str | None) -> None:
    """Print the events of JOURNAL that fit all options. A `*` at the end of a name stands for any end."""
    _must_be_journal(journal)
    since, until = (at and at.replace(tzinfo=UTC) for at in (since, until))
    found = _print(search(journal, EventFilter(since, until, **wanted)), raw)
    sys.exit(0 if found else 1)


@command.command("tail")
@journal_folder
@click.option(
    "-n", "many", type=click.IntRange(0), default=10, show_default=True, help="How many of the newest events."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new ones as they come.")
@as_json
def tail(journal: Path, many: int, follow: bool, raw: bool) -> None:
    """Print the newest events of JOURNAL."""
    _must_be_journal(journal)
    follower = Follower(journal)
    _print(latest(journal, many), raw)
    while follow:
        time.sleep(LOOK)
        _print(follower.more(), raw)


def _print(events: Iterable[JournalEvent], raw: bool) -> int:
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 (the last one counts)
        click.echo(json.dumps(event) if raw else printable(shown(event)))
    return count


def _must_be_journal(journal: Path) -> None:
    if not journal.is_dir():
        _give_up(f"{journal}: there is no such folder; give the one that stands at plugins: audit: journal")
    if not segments(journal):
        _give_up(f"{journal}: this is no journal, there is no segment in it; give the folder with date=... in it")


def _give_up(message: str) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(1)
