"""Playbooks: a conversation as one expression, of events (`>>`) and the commands that the link gives for them (`<<`).

    assert (
        Playbook(Refusing())
        >> FromClient(asking(METADATA, 1))
        << ToClient(refusal)
    )

After each `>>` the link is given that event, and the commands that it gives must be the `<<` that follow, no more and
no fewer. What the steps of `connected` do comes before the commands for the first event; a `Wake` of theirs is not
shown, but `Time(0)` ends it. Bytes for one side are compared as one piece, however they were cut. A `Call` is made at
once. If the commands differ, the assertion shows the whole conversation, with arrows, and the commands that came
instead. Every playbook is played twice: with whole chunks, and with every chunk byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from proxy.core.commands import Await, Close, Command, ToBroker, ToClient, Wake
from proxy.core.context import Connection
from proxy.core.filters import Filters
from proxy.core.limits import Counters, Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.topology import Endpoint, Topology
from proxy.testing.lending import from_broker, from_client, performed
from proxy.testing.played import Apply, BrokerCloses, ClientCloses, FromClient, PlayedEvent, Time, told

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
        lines: list[str] = []
        while position < len(self._script):
            event = self._script[position]
            assert isinstance(event, PlayedEvent), "a playbook begins with an event (>>)"
            position += 1
            expected: list[Command] = []
            while position < len(self._script) and not isinstance(self._script[position], PlayedEvent):
                expected.append(self._script[position])  # type: ignore[arg-type]
                position += 1
            lines.append(f">> {told(event)}")
            given = list(_joined(player.happens(event)))
            wanted = list(_joined(expected))
            lines += [f"<< {told(command)}" for command in wanted]
            if not _same(given, wanted):
                lines += ["   but it gave:", *(f"!! {told(command)}" for command in given or ("nothing",))]
                how = " (byte by byte)" if byte_by_byte else ""
                raise AssertionError(f"the conversation took another way{how}:\n" + "\n".join(lines))


class _Player:
    def __init__(self, link: Link, byte_by_byte: bool) -> None:
        self._link = link
        self._byte_by_byte = byte_by_byte
        self._tokens: list[int] = []
        self._commands: list[Command] = []
        self._take(link.begin())
        self._commands = [command for command in self._commands if not isinstance(command, Wake)]

    def happens(self, event: PlayedEvent) -> list[Command]:
        """The commands for an event. For the first one these begin with those of the steps of `connected`."""
        for given in self._given(event):
            self._take(given)
        commands, self._commands = self._commands, []
        return commands

    def _take(self, given: list[Command]) -> None:
        for command in performed(self._link, given):
            if isinstance(command, ToBroker | ToClient):
                command.data = bytes(command.data)
            elif isinstance(command, Wake | Await):
                self._tokens.append(command.token)
                command.token = 0
            self._commands.append(command)

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
