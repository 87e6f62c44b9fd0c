"""The events of a playbook, and how events and commands are shown where a conversation took another way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proxy.core.commands import ToBroker, ToClient
from proxy.core.limits import Limits
from proxy.core.plugin import Plugin
from proxy.protocol.api import APIS
from proxy.protocol.frame import REQUEST_HEAD, RESPONSE_HEAD, SIZE


@dataclass
class FromClient:
    """The client sends this."""

    data: bytes


@dataclass
class FromBroker:
    """The broker sends this."""

    data: bytes


@dataclass
class ClientCloses:
    """The client closes its side."""


@dataclass
class BrokerCloses:
    """The broker is gone."""


@dataclass
class Time:
    """A Sleep is over, or a signal released: the wait that began last, or the one with this index."""

    which: int = -1


class Apply:
    """Other plugins and limits are in force."""

    def __init__(self, *plugins: Plugin, limits: Limits | None = None) -> None:
        self.plugins = plugins
        self.limits = limits or Limits()

    def __repr__(self) -> str:
        return f"Apply({', '.join(type(plugin).__name__ for plugin in self.plugins)})"


PlayedEvent = FromClient | FromBroker | ClientCloses | BrokerCloses | Time | Apply


def told(step: object) -> str:
    """An event or a command, on one line: of bytes, the messages that they are."""
    name = type(step).__name__
    if isinstance(step, FromClient | ToBroker):
        return f"{name} {', '.join(_requests(bytes(step.data)))}"
    if isinstance(step, FromBroker | ToClient):
        return f"{name} {', '.join(_responses(bytes(step.data)))}"
    return str(step)


def _requests(data: bytes) -> Iterator[str]:
    while len(data) >= REQUEST_HEAD.size:
        size, key_and_version, correlation_id = REQUEST_HEAD.unpack_from(data)
        api = APIS.get(key_and_version >> 16)
        yield f"{api} v{key_and_version & 0xFFFF} #{correlation_id} {data[: SIZE.size + size].hex(' ', -4)}"
        data = data[SIZE.size + size :] if size > 0 else b""
    if data:
        yield data.hex(" ", -4)


def _responses(data: bytes) -> Iterator[str]:
    while len(data) >= RESPONSE_HEAD.size:
        size, correlation_id = RESPONSE_HEAD.unpack_from(data)
        yield f"#{correlation_id} {data[: SIZE.size + size].hex(' ', -4)}"
        data = data[SIZE.size + size :] if size > 0 else b""
    if data:
        yield data.hex(" ", -4)
