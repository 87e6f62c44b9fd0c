"""Channel: the protocol between a supervisor and a worker, over a socket pair.

Rules:
* The supervisor sends the first message: the settings of the worker, pickled. Both ends are the same program, run by
  the same user.
* After that, both send lines of JSON. The worker sends `{"ready": report}` each time that it has opened the ports of a
  cluster. It answers each `{}` with `{"report": report}`.
  Both send `{"learned": [cluster, node id, host, port]}`: the worker what it learned, the supervisor what another did.
  The worker sends `{"in_force": {file: content}}` for each file that it takes (`keeping.py`), in base64, or null.
* A configuration is put in force in two steps. `{"prepare": number, "config": ...}` is answered with
  `{"prepared": number, "problems": [...], "scarce": errno or null}`. Then `{"take": number}` is answered with
  `{"taken": number, "report": report}`. If a worker has problems, `{"forget": number}` comes instead, and nothing
  changes. A state of a plugin goes the same way: `{"prepare": number, "plugin": name, "state": ...}`. Its answer also
  has the mistakes in the state, as `"findings": [[path, message], ...]`.
* `{"query": number, "plugin": name, "question": ..., "said": ...}` is answered with
  `{"answered": number, "answers": ...}`. The answers are JSON in a string, because threads write and read that JSON.
  They are null if the plugin failed. `{"query": number, "connections": limit}` is answered in the same way.
* `{"free": listener}`: nobody else has the port of this listener any more (`claiming.py`).
* Any other line, or one without an end, is a `NonsenseError`. The receiver goes on with the next line.
* A line is sent whole or not at all. A sender may be cancelled in the middle of its line: the next one sends the rest.
* Only the latest news of each broker waits to be sent (`BrokerOutbox`). So an end that does not read costs no memory,
  and does not keep the others from hearing.
* If an end closes, its process is gone. A worker whose supervisor is gone ends. Lines sent to an end that is gone are
  lost, and the receiver is told that it is gone.
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
    """A line that is not part of the protocol."""


class Learned(NamedTuple):
    """A broker of a cluster was seen at this address."""

    cluster: str
    node_id: int
    host: str
    port: int

    @classmethod
    def of(cls, said: object) -> Learned:
        """The broker that a line tells of. Raises NonsenseError."""
        match said:
            case [str(cluster), int(node_id), str(host), int(port)] if not unusable(node_id, host, port):
                return cls(cluster, node_id, host, port)
        raise NonsenseError("a line tells of a broker that cannot be")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker is given at its start."""

    config: Config
    worker: int
    log: Any  # the form of the log, as `proxy.logs` has it
    verbose: bool
    mark: str = field(default_factory=new_mark)  # the same for all workers of one proxy
    states: Mapping[str, Any] = field(default_factory=dict)  # by plugin: what it took at run time
    taken: frozenset[str] = frozenset()  # listeners whose ports somebody else has
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # what other workers have in force


def receive_settings(channel: socket.socket) -> Settings:
    """Read the first message of a channel, before the event loop runs. Raises EOFError if the supervisor is gone.

    Later messages, such as a change, may have arrived too. They are left for `Lines`.
    """
    (size,) = SIZE.unpack(exactly(channel, SIZE.size))
    settings: Settings = pickle.loads(exactly(channel, size))
    return settings


def exactly(sock: socket.socket, size: int) -> bytes:
    """Read exactly so many bytes. Raises EOFError."""
    data = bytearray()
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError("the other end is gone")
        data += more
    return bytes(data)


class Lines:
    """One end of the socket pair."""

    def __init__(self, channel: socket.socket) -> None:
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(channel))
        self._sending = trio.Lock()
        self._unsent = memoryview(b"")  # the rest of a line that was begun
        self._rest = bytearray()
        self._searched = 0  # bytes at its start that contain no end of a line
        self._too_long = False  # the start of the current line was thrown away

    async def send_settings(self, settings: Settings) -> None:
        """Send the first message."""
        data = pickle.dumps(settings)
        await self._send(SIZE.pack(len(data)) + data)

    async def send(self, line: dict[str, Any]) -> None:
        """Send one line. Several tasks may do so."""
        await self._send(json.dumps(line).encode() + b"\n")

    async def _send(self, data: bytes) -> None:
        async with self._sending:
            with suppress(OSError, trio.ClosedResourceError):
                await self._send_rest()
                self._unsent = memoryview(data)[await self._stream.socket.send(data) :]
                await self._send_rest()

    async def _send_rest(self) -> None:
        while self._unsent:
            self._unsent = self._unsent[await self._stream.socket.send(self._unsent) :]

    async def receive(self) -> dict[str, Any] | None:
        """The next line. None if the other end is gone. Raises NonsenseError."""
        await trio.lowlevel.checkpoint()  # a chunk may have a thousand lines, each of which opens a port
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
    """A configuration as text for a line."""
    return base64.b64encode(pickle.dumps(config)).decode()


def read(text: str) -> Config:
    """The configuration that `written` wrote."""
    config: Config = pickle.loads(base64.b64decode(text))
    return config


class BrokerOutbox:
    """Broker news that is still to be sent."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._waiting: dict[tuple[str, int], Learned] = {}  # by cluster and node id
        self._filled = trio.Event()

    def put(self, learned: Learned) -> None:
        """Send this soon. It replaces older news of the same broker."""
        self._waiting[learned.cluster, learned.node_id] = learned
        self._filled.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._filled.wait()
            while self._waiting:
                learned = self._waiting.pop(next(iter(self._waiting)))
                await self._lines.send({"learned": learned})
            self._filled = trio.Event()
