"""Ending: how a subcommand ends that cannot do what it was asked."""

from __future__ import annotations

from typing import NoReturn

import click

from proxy.text.words import printable


def give_up(text: str, code: int = 1) -> NoReturn:
    """End the command, with these lines and this exit code."""
    for line in text.splitlines():
        click.echo(printable(line), err=True)
    raise SystemExit(code)
