"""Lends bytes to a link, and returns its commands, also if the link said that all bytes may pass (None)."""

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
