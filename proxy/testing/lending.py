"""Bytes are lent to a link; what it wants done comes back as commands, also where it said that all may pass."""

from __future__ import annotations

from proxy.core.commands import Command, ToBroker, ToClient
from proxy.core.link import Link
from proxy.protocol.frame import Buffer


def from_client(link: Link, data: Buffer) -> list[Command]:
    """The client sends this."""
    lent = memoryview(data)
    commands = link.receive_client(lent)
    return [ToBroker(lent)] if commands is None else commands


def from_broker(link: Link, data: Buffer) -> list[Command]:
    """The broker sends this."""
    lent = memoryview(data)
    commands = link.receive_broker(lent)
    return [ToClient(lent)] if commands is None else commands
