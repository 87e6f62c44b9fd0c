"""`doorkeeper faults`: the faults of a running proxy, driven through its admin side."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click
from click.shell_completion import CompletionItem

from chaos.admin_answers import AdminError, AdminLedgerEntry, FaultStatus
from chaos.client import AdminClient
from proxy.cli.admin_options import DEFAULT, with_admin
from proxy.cli.ending import give_up
from proxy.cli.played_faults import run, scenarios
from proxy.cli.replayed_faults import replay
from proxy.cli.sent_faults import sent_faults
from proxy.cli.shrunk_faults import shrink
from proxy.text.problems import BadFileError
from proxy.text.words import printable, printable_json

EPILOG = """\b
Examples:
  doorkeeper faults add '{name: slow, match: {api: Produce}, do: {delay: 1s}}'
  doorkeeper faults add faults.yaml
  doorkeeper faults list
  doorkeeper faults ledger --follow
  doorkeeper faults rm slow
  doorkeeper faults scenarios
  doorkeeper faults run leader-flap --set topic=orders
  doorkeeper faults shrink -- pytest tests/test_orders.py
\b
The proxy needs `admin: {bind: 127.0.0.1:9190}` and `plugins: [faults: {}]` in its configuration.
"""
WAIT = 10.0  # seconds that the admin side waits for a first entry
DAY = 86400.0  # seconds
SHORT = 0.3  # seconds that shell completion waits for names
as_json = click.option("--json", "raw", is_flag=True, help="Print the answer of the admin side, as JSON.")


@click.group("faults", epilog=EPILOG)
def command() -> None:
    """Add faults to a running proxy, see what they did, and take them away."""


@command.command("add")
@click.argument("faults")
@with_admin
def add(admin: AdminClient, faults: str) -> None:
    """Add FAULTS: a file, one fault as text, or - for standard input. All of them are added, or none."""
    try:
        sent = sent_faults(faults)
    except BadFileError as error:
        give_up(str(error))
    except OSError as error:
        give_up(f"{faults}: cannot be read ({error.strerror})")
    if sent.seed is not None:
        click.echo(f"{sent.name}: its seed is left out; doorkeeper faults reset --seed sets one", err=True)
    try:
        names = admin.add(*sent.faults)
    except AdminError as error:
        if not error.problems:
            raise
        give_up(sent.explained(error))
    for name in names:
        click.echo(printable(name))


@command.command("list")
@as_json
@with_admin
def list_(admin: AdminClient, raw: bool) -> None:
    """Print the faults in force, how often each one fired, and until when it can."""
    found = admin.faults()
    if raw:
        click.echo(printable_json(json.dumps(asdict(found))))
        return
    rows = [("NAME", "FROM", "MATCHED", "FIRED", "UNTIL", "ABOUT", "DOES"), *map(_row, found.faults)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"seed {found.seed}", err=True)


def _row(status: FaultStatus) -> tuple[str, ...]:
    match, do = (json.dumps(status.fault.get(part), ensure_ascii=False)[:80] for part in ("match", "do"))
    about = match if status.fault.get("match") else "all"
    numbers = str(status.matched), str(status.fired)
    return printable(status.name), status.source, *numbers, _until(status), printable(about), printable(do)


def _until(status: FaultStatus) -> str:
    """Until when it can fire: a time of day, a number of firings, or that it can fire no more."""
    when = status.fault.get("when") or {}
    times, ends = when.get("times"), status.ends
    if (times is not None and status.fired >= times) or (ends is not None and ends <= time.time()):
        return "over"
    day = "%Y-%m-%d " if ends is not None and ends - time.time() > DAY else ""
    limits = [] if ends is None else [f"{datetime.fromtimestamp(ends, UTC):{day}%H:%M:%S} UTC"]
    return " or ".join([*limits, *([f"fired {times}"] if times is not None else [])]) or "-"


def _names(context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """Shell completion: the names of faults that can be removed."""
    try:
        found = AdminClient(context.params.get("url") or DEFAULT, context.params.get("token"), SHORT).faults()
    except AdminError:
        return []  # completion has no place for an error message
    return [CompletionItem(it.name) for it in found.faults if it.source == "api" and it.name.startswith(begun)]


@command.command("rm")
@click.argument("names", nargs=-1, required=True, shell_complete=_names)
@with_admin
def remove(admin: AdminClient, names: tuple[str, ...]) -> None:
    """Take the faults of these NAMES away. Those of the file stay."""
    for name in names:
        status = admin.remove(name)
        click.echo(f"{printable(name)}: matched {status.matched}, fired {status.fired}")


@command.command("release")
@click.argument("names", nargs=-1, required=True, shell_complete=_names)
@with_admin
def release(admin: AdminClient, names: tuple[str, ...]) -> None:
    """Let go on what the faults of these NAMES hold."""
    for name in names:
        admin.release(name)


@command.command("reset")
@click.option("--seed", type=int, help="The new seed of the random numbers; without it, that of the file.")
@with_admin
def reset(admin: AdminClient, seed: int | None) -> None:
    """Take all faults away but those of the file, and count anew."""
    admin.reset(seed)


@command.command("ledger")
@click.option("--since", type=click.IntRange(0), default=0, help="Only entries after this number.")
@click.option("-f", "--follow", is_flag=True, help="Then print new entries as they come.")
@as_json
@with_admin
def ledger(admin: AdminClient, since: int, follow: bool, raw: bool) -> None:
    """Print what became of requests that matched a fault, or nearly."""
    for page in admin.pages(since):
        _print(page.entries, raw)
    while follow:
        page = admin.ledger(page.next, WAIT)
        _print(page.entries, raw)


def _print(entries: Iterable[AdminLedgerEntry], raw: bool) -> None:
    for entry in entries:
        known = {name: value for name, value in asdict(entry).items() if value is not None}
        click.echo(printable_json(json.dumps(known)) if raw else printable(_line(entry, known)))


def _line(entry: AdminLedgerEntry, known: dict[str, Any]) -> str:
    at = datetime.fromtimestamp(entry.time, UTC).strftime("%H:%M:%S.%f")[:-3]
    about = f"{entry.api} v{entry.version}" if entry.api else "a connection"
    who = " ".join(str(known[name]) for name in ("client_id", "client") if name in known)
    broker = "" if entry.broker is None else f" to broker {entry.broker}"
    result = f"fired ({entry.effect})" if entry.result == "fired" else f"{entry.result}: {entry.why}"
    return f"{entry.number}  {at}  {entry.fault}  {about} of {who}{broker}  {result}"


for more in (run, scenarios, replay, shrink):
    command.add_command(more)
