"""`doorkeeper audit`: verifies, searches, follows, exports and prunes an audit journal.

Rules:
* Events go to standard output, one a line.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from pathlib import Path

import click

from plugins.audit.event_reading import JournalEvent
from plugins.audit.follower import Follower
from plugins.audit.keyfile import KeyFileError
from plugins.audit.profiles import PROFILES
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.reports.asked import name, principal
from plugins.audit.schema import KINDS
from plugins.audit.search import EventFilter, search
from plugins.audit.shown import shown
from proxy.cli.checked import checked
from proxy.cli.ending import give_up
from proxy.cli.given import FILE_PATH, reading
from proxy.cli.journals import journal_folder, moment_utc, must_be_journal
from proxy.cli.sealed_journals import prune_journal, verify_journal
from proxy.protocol.api import APIS
from proxy.protocol.errors import ErrorCode
from proxy.text.words import printable, printable_json

SEARCH_EPILOG = """\b
Examples:
  doorkeeper audit search JOURNAL --principal User:alice --resource 'payments-*' --from 2026-03-01 --to 2026-04-01
  doorkeeper audit search JOURNAL --error TOPIC_AUTHORIZATION_FAILED --json
  doorkeeper audit search JOURNAL --kind authentication_failed
  doorkeeper audit search JOURNAL --principal User:alice --pseudonyms /etc/doorkeeper/pseudonyms
\b
Exit code: 0 if something was found; 1 if not.
"""
LOOK = 0.2  # seconds between two checks for new events
MOST = 1_000_000  # the largest number of newest events that `tail` shows
ERRORS = [error.name for error in ErrorCode if error is not ErrorCode.NONE]
OTHER_KEY = "names in some segments were not found: they are hashed with another key; search with its file too"
UNKNOWN = re.compile(r"UNKNOWN_(MINUS_)?\d{1,5}", re.ASCII)  # the journal's name of an error that is newer

known_kind = checked(partial(name, known=KINDS))
known_api = checked(partial(name, known=[api.name for api in APIS.values()]))
known_error = checked(lambda text: text if UNKNOWN.fullmatch(text) else name(text, ERRORS))
since_option = click.option("--from", "since", callback=moment_utc, help="Events at that time and later, in UTC.")
until_option = click.option("--to", "until", callback=moment_utc, help="Events before that time.")
as_json = click.option("--json", "raw", is_flag=True, help="Print events as JSON, as the journal has them.")


@click.group("audit")
def command() -> None:
    """Verify, search and follow the JOURNAL that a proxy with `plugins: [audit: {journal: JOURNAL}]` writes."""


@command.command("search", epilog=SEARCH_EPILOG)
@journal_folder
@since_option
@until_option
@click.option("--kind", callback=known_kind, help="Events of this kind: request, authentication_failed, ...")
@click.option("--principal", callback=checked(principal), help='Of this principal, as Kafka writes it: "User:alice".')
@click.option("--resource", callback=checked(name), help="About the topic, group, ... of this name.")
@click.option("--api", callback=known_api, help="Requests of this API: Produce, Fetch, CreateAcls, ...")
@click.option("--error", callback=known_error, help="Requests that were answered with this error.")
@click.option("--client", callback=checked(name), help="Of a client with this address or client id.")
@click.option(
    "--pseudonyms",
    "secret",
    type=FILE_PATH,
    help="The file with the key of hashed names: whole names are found in their place too.",
)
@as_json
def search_(
    journal: Path, raw: bool, since: datetime | None, until: datetime | None, secret: Path | None, **wanted: str | None
) -> None:
    """Print the events of JOURNAL that fit all options. A `*` at the end of a name stands for any end."""
    must_be_journal(journal)
    _must_be_period(since, until)
    with reading():
        try:
            known = None if secret is None else pseudonyms(secret)
        except KeyFileError as error:
            give_up(str(error))
        found = search(journal, EventFilter(since, until, **wanted, pseudonyms=known))
        count = _print(found, raw)
    if known is not None and (others := found.keys - {known.id}):
        click.echo(f"{secret}: {OTHER_KEY} ({printable(', '.join(sorted(others)))})", err=True)
    sys.exit(0 if count else 1)


@command.command("export")
@journal_folder
@click.option(
    "--profile", required=True, type=click.Choice(sorted(PROFILES)), help="The schema whose field names are used."
)
@since_option
@until_option
def export(journal: Path, profile: str, since: datetime | None, until: datetime | None) -> None:
    """Print the events of JOURNAL in the fields of ECS or OCSF. Each event is a line of JSON."""
    must_be_journal(journal)
    _must_be_period(since, until)
    with reading():
        for event in search(journal, EventFilter(since, until)):
            click.echo(printable_json(json.dumps(PROFILES[profile](event))))


@command.command("tail")
@journal_folder
@click.option(
    "-n",
    "many",
    type=click.IntRange(0, MOST),
    default=10,
    show_default=True,
    help="How many of the newest events are printed first.",
)
@click.option("-f", "--follow", is_flag=True, help="Then print new events as they come.")
@as_json
def tail(journal: Path, many: int, follow: bool, raw: bool) -> None:
    """Print the newest events of JOURNAL."""
    must_be_journal(journal)
    with reading():
        follower = Follower(journal, many, time.time)
        _print(follower.newest, raw)
        while follow:
            time.sleep(LOOK)
            _print(follower.more(), raw)


def _must_be_period(since: datetime | None, until: datetime | None) -> None:
    if since is not None and until is not None and since >= until:
        raise click.UsageError(f"--from {since:%Y-%m-%dT%H:%M:%SZ} is not before --to {until:%Y-%m-%dT%H:%M:%SZ}")


def _print(events: Iterable[JournalEvent], raw: bool) -> int:
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 (the last one counts)
        click.echo(printable_json(json.dumps(event)) if raw else printable(shown(event)))
    return count


for more in (verify_journal, prune_journal):
    command.add_command(more)
