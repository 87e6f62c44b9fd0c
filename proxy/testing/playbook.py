"""Playbooks: a conversation as one expression, of events (`>>`) and the commands that the link gives for them (`<<`).

    assert (
        Playbook(Refusing())
        >> FromClient(asking(METADATA, 1))
        << ToClient(refusal)
    )

After each `>>` the link is given that event, and the commands that it gives must be the `<<` that follow, no more and
no fewer. Bytes for one side are compared as one piece, however they were cut. A `Call` is made at once. If the commands
differ, the assertion shows the whole conversation, with arrows, and the commands that came instead. Every playbook is
played twice: with whole chunks, and with every chunk byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proxy.core.commands import Await, Close, Command, ToBroker, ToClient, Wake
from proxy.core.context import Connection
from proxy.core.filters import Filters
from proxy.core.limits import Counters, Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.topology import Endpoint, Topology
from proxy.protocol.api import APIS
from proxy.protocol.frame import REQUEST_HEAD, RESPONSE_HEAD, SIZE
from proxy.testing.lending import from_broker, from_client, performed


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
ANY = "any reason"  # for Close


def connection() -> Connection:
    """A client connection to a cluster of which nothing is known."""
    topology = Topology(lambda node_id: Endpoint("proxy", 9193 + node_id))
    return Connection(("192.0.2.1", 50000), "clients", "main", topology)


class Playbook:
    """A conversation, to be played when it is asserted."""

    def __init__(self, *plugins: Plugin, limits: Limits | None = None, byte_by_byte: bool = True) -> None:
        self._plugins = plugins
        self._limits = limits or Limits()
        self._byte_by_byte = byte_by_byte
        self._script: list[PlayedEvent | Command] = []
        self.counters = Counters()
        self.connection = connection()

    def __rshift__(self, event: PlayedEvent) -> Playbook:
        self._script.append(event)
        return self

    def __lshift__(self, command: Command) -> Playbook:
        self._script.append(command)
        return self

    def __bool__(self) -> bool:
        self._play(False)
        if self._byte_by_byte:
            self._play(True)
        return True

    def _play(self, byte_by_byte: bool) -> None:
        self.counters, self.connection = Counters(), connection()
        link = Link(self.connection, Filters(self._plugins), self._limits, self.counters)
        player = _Player(link, byte_by_byte)
        position = 0
        told: list[str] = []
        while position < len(self._script):
            event = self._script[position]
            assert isinstance(event, PlayedEvent), "a playbook begins with an event (>>)"
            position += 1
            expected: list[Command] = []
            while position < len(self._script) and not isinstance(self._script[position], PlayedEvent):
                expected.append(self._script[position])  # type: ignore[arg-type]
                position += 1
            told.append(f">> {_tell(event)}")
            given = list(_joined(player.happens(event)))
            wanted = list(_joined(expected))
            told += [f"<< {_tell(command)}" for command in wanted]
            if not _same(given, wanted):
                told += ["   but it gave:", *(f"!! {_tell(command)}" for command in given or ("nothing",))]
                how = " (byte by byte)" if byte_by_byte else ""
                raise AssertionError(f"the conversation took another way{how}:\n" + "\n".join(told))


class _Player:
    def __init__(self, link: Link, byte_by_byte: bool) -> None:
        self._link = link
        self._byte_by_byte = byte_by_byte
        self._tokens = [command.token for command in link.begin() if isinstance(command, Wake)]

    def happens(self, event: PlayedEvent) -> list[Command]:
        commands: list[Command] = []
        for given in self._given(event):
            for command in performed(self._link, given):
                if isinstance(command, ToBroker | ToClient):
                    command.data = bytes(command.data)
                elif isinstance(command, Wake | Await):
                    self._tokens.append(command.token)
                    command.token = 0
                commands.append(command)
        return commands

    def _given(self, event: PlayedEvent) -> Iterator[list[Command]]:
        link = self._link
        if isinstance(event, ClientCloses):
            yield link.client_closed()
        elif isinstance(event, BrokerCloses):
            yield link.broker_closed()
        elif isinstance(event, Apply):
            yield link.apply(Filters(event.plugins), event.limits)
        elif isinstance(event, Time):
            yield link.wake(self._tokens[event.which])
        else:
            receive = from_client if isinstance(event, FromClient) else from_broker
            step = 1 if self._byte_by_byte else max(len(event.data), 1)
            for start in range(0, len(event.data), step):
                lent = bytearray(event.data[start : start + step])
                yield receive(link, lent)
                lent[:] = b"\xee" * len(lent)  # the buffer is used for something else now


def _joined(commands: list[Command]) -> Iterator[Command]:
    """Bytes for the broker, bytes for the client, then everything else, in order."""
    for kind in (ToBroker, ToClient):
        data = b"".join(bytes(command.data) for command in commands if isinstance(command, kind))
        if data:
            yield kind(data)
    yield from (command for command in commands if not isinstance(command, ToBroker | ToClient))


def _same(given: list[Command], wanted: list[Command]) -> bool:
    return len(given) == len(wanted) and all(
        got == want or (isinstance(got, Close) and isinstance(want, Close) and want.reason == ANY and got.reason)
        for got, want in zip(given, wanted, strict=True)
    )


def _tell(step: object) -> str:
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
