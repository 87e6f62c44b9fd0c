"""Channel: what a supervisor and a worker say to each other, over a socket pair.

Rules:
* The supervisor speaks first: the settings of the worker, pickled (it is the same program, run by the same user).
* After that, lines of JSON. The worker says `{"ready": report}` each time that it opened the ports of a cluster; it
  answers each `{}` with `{"report": report}`.
  Both say `{"learned": [cluster, node id, host, port]}`: the worker what it learned, the supervisor what another did.
* Another configuration is put in force in two steps: `{"prepare": number, "config": ...}` is answered with
  `{"prepared": number, "problems": [...]}`, and then `{"take": number}` with `{"taken": number, "report": report}`.
  Where another worker has problems `{"forget": number}` comes instead, and nothing changes. So is another state of a
  plugin: `{"prepare": number, "plugin": name, "state": ...}`; what is wrong in it is said beside, as
  `"findings": [[path, message], ...]`.
* `{"query": number, "plugin": name, "question": ..., "said": ...}` is answered with `{"answered": number, "answers":
  ...}`, whose answers are JSON in a string: it is written and read in threads; null where the plugin failed. So is
  `{"query": number, "connections": limit}`.
* A line that is none of these, or endless, is a `NonsenseError`: whoever receives goes on with the next one.
* Of brokers only the last word about each waits to be sent (`BrokerOutbox`): an end that does not read costs no memory,
  and keeps no other from hearing.
* Either end closing means that the process at it is gone: a worker whose supervisor is gone ends. What is still sent
  to an end that is gone is lost; who receives is told.
"""

from __future__ import annotations

import base64
import json
import pickle
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import trio

from proxy.config import Config
from proxy.core.addresses import unusable
from proxy.net.asking import new_mark

SIZE = struct.Struct(">I")
LONGEST = 16 << 20  # bytes of a line; a report about a thousand brokers has 100 KB


class NonsenseError(ValueError):
    """A line that neither end says."""


class Learned(NamedTuple):
    """A broker of a cluster was seen at this address."""

    cluster: str
    node_id: int
    host: str
    port: int

    @classmethod
    def of(cls, said: object) -> Learned:
        """What a line says. Raises NonsenseError."""
        match said:
            case [str(cluster), int(node_id), str(host), int(port)] if not unusable(node_id, host, port):
                return cls(cluster, node_id, host, port)
        raise NonsenseError("a line tells of a broker that cannot be")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker is told at its start."""

    config: Config
    worker: int
    log: Any  # the form of the log, as `proxy.logs` has it
    verbose: bool
    mark: str = field(default_factory=new_mark)  # of all workers of one proxy
    states: Mapping[str, Any] = field(default_factory=dict)  # that plugins took while they ran, by their names


def receive_settings(channel: socket.socket) -> Settings:
    """The first thing on a channel, before anything async. Raises EOFError when the supervisor is gone already.

    What follows may be there too, a change for one, and is left for `Lines`.
    """
    (size,) = SIZE.unpack(exactly(channel, SIZE.size))
    settings: Settings = pickle.loads(exactly(channel, size))
    return settings


def exactly(sock: socket.socket, size: int) -> bytes:
    """So many bytes, and none of those behind them. Raises EOFError."""
    data = bytearray()
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError("the other end is gone")
        data += more
    return bytes(data)


class Lines:
    """One end of the pair."""

    def __init__(self, channel: socket.socket) -> None:
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(channel))
        self._sending = trio.Lock()
        self._rest = bytearray()
        self._searched = 0  # bytes of it, in which no line ends
        self._too_long = False  # what of this line came was thrown away

    async def send_settings(self, settings: Settings) -> None:
        """What goes first."""
        data = pickle.dumps(settings)
        await self._send(SIZE.pack(len(data)) + data)

    async def send(self, line: dict[str, Any]) -> None:
        """One line; several tasks may send."""
        await self._send(json.dumps(line).encode() + b"\n")

    async def _send(self, data: bytes) -> None:
        async with self._sending:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._stream.send_all(data)

    async def receive(self) -> dict[str, Any] | None:
        """The next line; None when the other end is gone. Raises NonsenseError."""
        while (end := self._rest.find(b"\n", self._searched)) < 0:
            if len(self._rest) > LONGEST:
                self._rest.clear()
                self._too_long = True
            self._searched = len(self._rest)
            try:
                data = await self._stream.receive_some()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not data:
                return None
            self._rest += data
        line = self._rest[:end]
        del self._rest[: end + 1]
        self._searched = 0
        too_long, self._too_long = self._too_long, False
        try:
            values = None if too_long else json.loads(line)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise NonsenseError("a line is none that a supervisor or a worker says")
        return values


def written(config: Config) -> str:
    """A configuration, in a line."""
    return base64.b64encode(pickle.dumps(config)).decode()


def read(text: str) -> Config:
    """What was written so."""
    config: Config = pickle.loads(base64.b64decode(text))
    return config


class BrokerOutbox:
    """What is to be told of brokers."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._waiting: dict[tuple[str, int], Learned] = {}  # by cluster and node id
        self._filled = trio.Event()

    def put(self, learned: Learned) -> None:
        """Tell this soon, instead of what was to be told of this broker before."""
        self._waiting[learned.cluster, learned.node_id] = learned
        self._filled.set()

    async def run(self) -> None:
        """Tell until cancelled."""
        while True:
            await self._filled.wait()
            while self._waiting:
                learned = self._waiting.pop(next(iter(self._waiting)))
                await self._lines.send({"learned": learned})
            self._filled = trio.Event()
