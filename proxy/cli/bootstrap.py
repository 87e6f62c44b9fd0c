"""Bootstrap: the option `--bootstrap`, addresses of brokers with commas between them, as Kafka's tools take them."""

from __future__ import annotations

import click

from proxy.config.values import HostPort
from proxy.text.words import printable


def bootstrap_of(text: str) -> tuple[HostPort, ...]:
    """The addresses. A wrong one is wrong usage."""
    if not text:
        raise click.UsageError('--bootstrap is empty; write "host:port"')
    try:
        return tuple(HostPort.parse(one.strip()) for one in text.split(","))
    except ValueError as error:
        raise click.UsageError(printable(f"--bootstrap: {error}")) from None
