"""The canary: a well-behaved client that produces and fetches all the time, and its broker, in a process of their own.

    python -m tests.hostile.canary '{"told": {"2": ["127.0.0.9", 15002]}}'

Rules:
* It writes lines of JSON: first the port of its broker, then one line for each line on its standard input.
* The latency of a request counts from its due time, not from the time when it could be sent. While the proxy stands
  still, every request that falls due counts as late; the canary does not send it afterwards.
* Two clients go through the proxy: `stay` keeps its connection, `anew` connects for each request. A connection that is
  cut, refused or silent for `PATIENCE` is a fault, and the canary reports its error.
* A third client, `straight`, connects directly to the broker, as often as `stay`. Its latency is the machine's share.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import sys
from dataclasses import dataclass, field
from typing import Any

import trio

from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.hostile.answers import Told, answer
from tests.proxy.core.frames import produce
from tests.proxy.net.scripted import read_frame

REAL = "127.0.0.9"  # the real address of all brokers: no client may ever see it
HOST = "127.0.0.1"  # the address of the proxy
NODE = 1
EVERY = 0.01  # seconds between two requests of `stay`
ANEW = 0.05  # seconds between two connections of `anew`
PATIENCE = 5.0  # seconds without a response: the client is starved

TOPIC = "canary"


def fetch(number: int) -> bytes:
    """A Fetch request outside a session."""
    partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchRequest.Topic(topic=TOPIC, partitions=[partition])
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic], session_epoch=-1)
    return request_frame(request, 11, number, "app")


def produced(number: int) -> bytes:
    """A Produce request of 100 bytes."""
    return produce(number, 1, b"c" * 100).replace(b"orders", TOPIC.encode())


@dataclass
class Flight:
    """The results of one client since the last look."""

    every: float
    late: list[float] = field(default_factory=list)  # latencies in seconds, one for each pair of requests
    faults: list[str] = field(default_factory=list)
    answered: trio.Event = field(default_factory=trio.Event)
    due: float = 0.0  # when the next request is due

    def saw(self, due: float) -> None:
        """Count the request that was due, and each request that fell due since, with the latency it would have had."""
        now = trio.current_time()
        while due < now:
            self.late.append(now - due)
            self.due, due = due, due + self.every
        self.answered.set()
        self.answered = trio.Event()

    def look(self) -> dict[str, Any]:
        late = sorted(self.late)
        p99 = late[math.ceil(len(late) * 0.99) - 1] if late else math.inf
        told = {"pairs": len(late), "p99": p99, "worst": late[-1] if late else math.inf, "faults": self.faults[:5]}
        self.late, self.faults = [], []
        self.due = max(self.due, trio.current_time() - self.every)  # reported latencies count only once
        return told


class Canary:
    """Broker and clients, controlled by standard input."""

    def __init__(self, told: Told) -> None:
        self._told = dict(told)
        self._stay, self._anew, self._straight = Flight(EVERY), Flight(ANEW), Flight(EVERY)
        self._way: dict[str, Any] = {}

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            (listener,) = await trio.open_tcp_listeners(0, host=REAL)
            self._told[NODE] = REAL, listener.socket.getsockname()[1]
            nursery.start_soon(trio.serve_listeners, self._serve, [listener])
            say(port=self._told[NODE][1])
            async for line in lines():
                order = json.loads(line)
                if "fly" in order:
                    self._way = order["fly"]
                    nursery.start_soon(self._keep, self._stay)
                    nursery.start_soon(self._keep, self._anew)
                    nursery.start_soon(self._keep, self._straight)
                    say()
                else:
                    await self._read(order["pairs"])
            nursery.cancel_scope.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        try:
            while frame := await read_frame(stream):
                said = answer(frame, self._told, NODE)
                if said is not None:
                    await stream.send_all(said)
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(stream)

    async def _read(self, pairs: int) -> None:
        """Wait for enough responses to both clients, at most twice `PATIENCE`, and report."""
        with trio.move_on_after(2 * PATIENCE):
            for flight, enough in ((self._stay, pairs), (self._anew, 1)):
                while len(flight.late) < enough:
                    await flight.answered.wait()
        say(stay=self._stay.look(), anew=self._anew.look(), straight=self._straight.look())

    async def _keep(self, flight: Flight) -> None:
        while True:
            try:
                await self._fly(flight)
            except (OSError, trio.BrokenResourceError, trio.TooSlowError, EOFError, ssl.SSLError) as error:
                flight.faults.append(f"{type(error).__name__} {error}".strip())
                await trio.sleep(flight.every)  # a client's own retry backoff

    async def _fly(self, flight: Flight) -> None:
        flight.due, stream = trio.current_time(), None
        try:
            for number in range(1 << 30):
                flight.due += flight.every
                due = flight.due
                await trio.sleep_until(due)
                with trio.fail_after(PATIENCE):
                    if stream is None or flight is self._anew:
                        if stream is not None:
                            await trio.aclose_forcefully(stream)
                        stream = await (self._connect_straight() if flight is self._straight else self._connect())
                    for request in (produced(number), fetch(number)):
                        await ask(stream, request)
                flight.saw(due)
        finally:
            if stream is not None:
                await trio.aclose_forcefully(stream)

    async def _connect_straight(self) -> Any:
        return await trio.open_tcp_stream(*self._told[NODE])

    async def _connect(self) -> Any:
        way = self._way
        stream: Any = await trio.open_tcp_stream(HOST, way["port"])
        if way.get("ca"):
            trusting = ssl.create_default_context(cafile=way["ca"])
            stream = trio.SSLStream(stream, trusting, server_hostname=way.get("name", HOST), https_compatible=True)
        if way.get("user"):
            token = f"\0{way['user']}\0{way['password']}".encode()
            await ask(stream, request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1, TOPIC))
            await ask(stream, request_frame(SaslAuthenticateRequest(auth_bytes=token), 2, 2, TOPIC))
        return stream


async def ask(stream: Any, request: bytes) -> None:
    """Send a request and read its response. Raises EOFError where the connection was closed instead."""
    await stream.send_all(request)
    said = await read_frame(stream)
    if not said:
        raise EOFError("the connection was cut")
    if said[:4] != request[8:12]:
        raise EOFError("the answer was another request's")


async def lines() -> Any:
    """Standard input, line by line."""
    rest = b""
    async with trio.lowlevel.FdStream(os.dup(0)) as stream:
        while more := await stream.receive_some():
            *whole, rest = (rest + more).split(b"\n")
            for line in whole:
                yield line


def say(**facts: object) -> None:
    """Write one line of JSON."""
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    told = json.loads(sys.argv[1])["told"]
    trio.run(Canary({int(node): (host, port) for node, (host, port) in told.items()}).run)
