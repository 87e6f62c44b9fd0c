"""Ending: how a subcommand ends that cannot do what it was asked."""

from __future__ import annotations

from typing import NoReturn

import click

from proxy.text.words import printable


def give_up(text: str) -> NoReturn:
    """End the command, with these lines."""
    for line in text.splitlines():
        click.echo(printable(line), err=True)
    raise SystemExit(1)
