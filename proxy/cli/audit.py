"""`doorkeeper audit`: verifies, searches, follows, exports and prunes an audit journal.

Rules:
* Events go to standard output, one a line. So do the findings of `verify`, since they are its result.
* Only `prune` changes the journal, and the proxy that writes it may be running.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from plugins.audit.keyfile import KeyFileError
from plugins.audit.profiles import PROFILES
from plugins.audit.pruning import prune
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.reports.asked import moment, name, principal
from plugins.audit.schema import KINDS
from plugins.audit.seals import BadSealError
from plugins.audit.search import EventFilter, Follower, JournalEvent, search
from plugins.audit.segments import segments
from plugins.audit.shown import shown
from plugins.audit.signing import fingerprint, public_key, signing_key
from plugins.audit.verify import verify
from proxy.cli.checked import checked
from proxy.cli.ending import give_up
from proxy.protocol.api import APIS
from proxy.protocol.errors import ErrorCode
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
  doorkeeper audit search JOURNAL --principal User:alice --pseudonyms /etc/doorkeeper/pseudonyms
\b
Exit code: 0 if something was found; 1 if not.
"""
LOOK = 0.2  # seconds between two checks for new events
MOST = 1_000_000  # the largest number of newest events that `tail` shows


known_kind = checked(partial(name, known=KINDS))
known_api = checked(partial(name, known=[api.name for api in APIS.values()]))
known_error = checked(partial(name, known=[error.name for error in ErrorCode]))
moment_utc = checked(partial(moment, zone=ZoneInfo("UTC")))
since_option = click.option("--from", "since", callback=moment_utc, help="Events at that time and later, in UTC.")
until_option = click.option("--to", "until", callback=moment_utc, help="Events before that time.")
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
    with _reading():
        try:
            verified = verify(journal, None if key is None else public_key(key))
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
        known = "" if key else "; give the proxy's as --key, since a forger has one too"
        click.echo(f"sealed with the key {fingerprint(signer)}{known}")
    sys.exit(0 if verified.is_intact else 1)


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
    type=click.Path(path_type=Path),
    help="The file with the key of hashed names: whole names are found in their place too.",
)
@as_json
def search_(
    journal: Path, raw: bool, since: datetime | None, until: datetime | None, secret: Path | None, **wanted: str | None
) -> None:
    """Print the events of JOURNAL that fit all options. A `*` at the end of a name stands for any end."""
    _must_be_journal(journal)
    _must_be_period(since, until)
    with _reading():
        try:
            known = None if secret is None else pseudonyms(secret)
        except KeyFileError as error:
            give_up(str(error))
        found = _print(search(journal, EventFilter(since, until, **wanted, pseudonyms=known)), raw)
    sys.exit(0 if found else 1)


@command.command("export")
@journal_folder
@click.option("--profile", required=True, type=click.Choice(sorted(PROFILES)), help="Whose field names.")
@since_option
@until_option
def export(journal: Path, profile: str, since: datetime | None, until: datetime | None) -> None:
    """Print the events of JOURNAL as JSON lines in the field names of another tool: ECS or OCSF."""
    _must_be_journal(journal)
    _must_be_period(since, until)
    with _reading():
        for event in search(journal, EventFilter(since, until)):
            click.echo(json.dumps(PROFILES[profile](event)))


@command.command("tail")
@journal_folder
@click.option(
    "-n", "many", type=click.IntRange(0, MOST), default=10, show_default=True, help="How many of the newest events."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new ones as they come.")
@as_json
def tail(journal: Path, many: int, follow: bool, raw: bool) -> None:
    """Print the newest events of JOURNAL."""
    _must_be_journal(journal)
    with _reading():
        follower = Follower(journal, many)
        _print(follower.newest, raw)
        while follow:
            time.sleep(LOOK)
            _print(follower.more(), raw)


@command.command("prune")
@journal_folder
@click.option(
    "--before", required=True, callback=moment_utc, help="Segments whose hour was over at that time, in UTC, go."
)
@click.option("--key", type=click.Path(path_type=Path), help="The private key of the journal; without it JOURNAL.key.")
def prune_(journal: Path, before: datetime, key: Path | None) -> None:
    """Delete old segments of JOURNAL. Their seals stay, and a signed statement, so that `verify` knows of it."""
    _must_be_journal(journal)
    file = key or journal.with_name(f"{journal.name}.key")
    try:
        if not file.exists():
            give_up(f"{file}: there is no such key; name the journal's private key with --key")
        with _reading():
            signing = signing_key(file)
        pruned = list(prune(journal, before, signing, datetime.now(UTC)))
    except KeyFileError as error:
        give_up(str(error))
    except BadSealError as error:
        give_up(f"a seal cannot be trusted: {error}; see what `doorkeeper audit verify` says")
    except OSError as error:
        give_up(f"{error.filename}: cannot be deleted ({error.strerror}); {_way_out(error)}")
    freed = sum(size for _, size in pruned)
    click.echo(f"{len(pruned)} segments deleted, {freed:,} bytes; their seals stay")


@contextmanager
def _reading() -> Iterator[None]:
    """An OSError ends the command with one line that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output closed its end: that is no error
    except OSError as error:
        give_up(f"{error.filename}: cannot be read ({error.strerror}); {_way_out(error)}")


def _way_out(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "name a file that is there"
    return "name a file in it" if isinstance(error, IsADirectoryError) else "check its permissions"


def _must_be_period(since: datetime | None, until: datetime | None) -> None:
    if since is not None and until is not None and since >= until:
        raise click.UsageError(f"--from {since:%Y-%m-%dT%H:%M:%SZ} is not before --to {until:%Y-%m-%dT%H:%M:%SZ}")


def _print(events: Iterable[JournalEvent], raw: bool) -> int:
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 (the last one counts)
        click.echo(json.dumps(event) if raw else printable(shown(event)))
    return count


def _must_be_journal(journal: Path) -> None:
    if journal.is_file():
        give_up(f"{journal}: this is a file; give the folder that stands at plugins: audit: journal")
    if not journal.is_dir():
        give_up(f"{journal}: there is no such folder; give the one that stands at plugins: audit: journal")
    if not segments(journal):
        give_up(f"{journal}: this is no journal, there is no segment in it; give the folder with date=... in it")
