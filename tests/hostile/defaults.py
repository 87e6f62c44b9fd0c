"""Default limits: attacks by numbers that the lower limits of other grounds do not let through."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack

from proxy.protocol.api import METADATA
from proxy.protocol.header import read_request_header
from tests.hostile.canary import HOST, REAL
from tests.hostile.canary import NODE as CANARYS
from tests.hostile.client import patiently
from tests.hostile.ground import Ground
from tests.hostile.requests import beat, metadata
from tests.hostile.settings import DEFAULTS, LITTLE_MEMORY
from tests.hostile.stage import NODE, Peer, Play
from tests.hostile.trial import case

OURS = "hostile"  # the client id of attacking clients; the proxy has another
NOBODY = 9  # a port at which nobody listens
MANY = 900  # brokers; the limit is 1,000
HIGH = 61_000  # ports from here on are given by nobody
IN_FLIGHT = 1_000  # the limit
SOONEST = 1.0  # seconds between two discoveries


def discovered(*lists: Sequence[int]) -> Play:
    """A broker that tells the proxy of these node ids, the next list each time.

    It tells each client of one more broker, which has the proxy discover again.
    """

    def play(peer: Peer) -> None:
        ours = {NODE: (REAL, peer.stage.port)}
        for frame in peer.frames():
            header, _ = read_request_header(frame)
            if header.client_id == OURS:
                peer.stage.told = ours | {max(lists[-1]) + peer.stage.came: (REAL, NOBODY)}
            elif header.request_api_key == METADATA.key:
                peer.stage.told = ours | dict.fromkeys(lists[len(asked) % len(lists)], (REAL, NOBODY))
                asked.append(frame)
            peer.send(peer.answer(frame))

    asked: list[bytes] = []
    return play


def discover(ground: Ground, listener: str) -> None:
    """A client is told of a broker that is new, so that the proxy discovers again."""
    with ground.client(listener) as client:
        client.send(metadata(["orders"]))
        client.frame()


def _node(ground: Ground, port: int) -> int:
    """The broker that gets this port, in the next cluster."""
    return port - ground.port(ground.unused[0][0], 0)


@case("very many brokers invented at once", on=DEFAULTS, descriptors=6 * MANY, log=100)
def invented(ground: Ground) -> str:
    """The proxy discovers them, and opens a port for each: these stay, with 1 KB each."""
    clusters = ground.times(2, 5)
    for number in range(clusters):
        before, first = ground.watch.look().descriptors, _node(ground, HIGH + number * MANY)
        discover(ground, ground.cluster(discovered(range(first, first + MANY))))
        for _ in patiently("their ports are open"):
            if ground.watch.look().descriptors >= before + MANY:
                break
    return f"{clusters * MANY:,} brokers"


@case("brokers on taken ports, beside many connections", on=DEFAULTS, descriptors=100, log=100)
def taken(ground: Ground) -> str:
    """Who has a port is looked for in the table of all connections, and among the descriptors of all processes."""
    many = [ground.client(node=CANARYS) for _ in range(ground.times(500, 1_000))]
    for client in many:
        client.send(beat())
    for client in many:
        client.frame()
    start = ground.watch.log_size()
    with ExitStack() as stack:
        for _ in range(3):
            sockets = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(10)]
            nodes = [_node(ground, each.getsockname()[1]) for each in sockets]
            discover(ground, ground.cluster(discovered(nodes)))
        for _ in patiently("their owner is named", 20):
            told = [line["why"] for line in ground.lines("no port for a broker", start)]
            if len(told) >= 30:
                break
    assert any(f"process {os.getpid()} (" in why for why in told), "the owner of no port is named"
    return f"{len(told)} lines beside {len(many)} connections"


@case("a list of brokers that alternates", on=DEFAULTS, descriptors=200)
def alternating(ground: Ground) -> str:
    """Clients have the proxy discover again and again. The log does not grow with the number of brokers."""
    start, rounds = ground.watch.log_size(), ground.times(4, 30)
    first = _node(ground, HIGH)
    listener = ground.cluster(discovered(range(first, first + 40), range(first + 40, first + 80)))
    for _ in range(rounds):
        discover(ground, listener)
        time.sleep(SOONEST)
    lines = sum(len(ground.lines(event, start)) for event in ("broker appeared", "broker left"))
    assert lines <= 2 * (10 + rounds), f"{lines} lines in {rounds} rounds"
    return f"{lines} lines in {rounds} rounds"


@case("many requests in flight on many connections", on=LITTLE_MEMORY, peak=80, kept=30)
def in_flight(ground: Ground) -> str:
    """Heartbeats of many groups. Each takes little memory, all more than there is."""

    def play(peer: Peer) -> None:
        while data := peer.sock.recv(1 << 18):
            passed.append(len(data))

    passed: list[int] = []
    ground.stage.play = play
    said = b"".join(beat(n, f"open-{n}") for n in range(IN_FLIGHT))
    many = [ground.client() for _ in range(ground.times(100, 300))]
    for client in many:
        client.send(said)
    for _ in patiently("all has passed that passes", 60):
        before = len(passed)
        time.sleep(ground.times(1, 2))  # they stay in flight, and the proxy counts them
        if len(passed) == before:
            break
    ended = ground.met("memory")
    assert ended, "nothing that is in flight counts"
    return f"{ended} of {len(many)} connections ended"
