"""Slow clients: they send little, or late, or do not read."""

from __future__ import annotations

from proxy.protocol.frame import SIZE
from tests.hostile.client import Client, NotHeldError, settled
from tests.hostile.ground import Ground
from tests.hostile.requests import BEAT, beat, metadata, produce
from tests.hostile.settings import OPEN, RULED, TWO
from tests.hostile.stage import Peer
from tests.hostile.trial import case, cases

MIB = 1 << 20
HALVES = {
    "nothing": b"",
    "half a size": b"\0\0",
    "half a head": beat()[:9],
    "a head, and no body": beat()[:12],
    "half a request": beat()[:-3],
    "the head of a large request": SIZE.pack(90 * MIB) + beat()[4:12],
}


def _all_end(ground: Ground, clients: list[Client], limit: str, before: int) -> str:
    """All connections are closed, and by this limit alone, as its metric shows."""
    for client in clients:
        client.ends()
    by_limit = ground.met(limit) - before
    assert by_limit == len(clients), f"{by_limit} of {len(clients)} were closed by limits.{limit}"
    return f"{len(clients)} closed by limits.{limit}"


@cases({f"{name}, then silence": data for name, data in HALVES.items()}, on=OPEN)
def first(ground: Ground, data: bytes) -> str:
    """A connection has one second for its first request."""
    before = ground.met("first_frame")
    clients = [ground.client() for _ in range(ground.times(20, 200))]
    for client in clients:
        client.send(data)
    return _all_end(ground, clients, "first_frame", before)


@cases({f"{name}, then silence, after a good request": HALVES[name] for name in list(HALVES)[1:]}, on=OPEN)
def later(ground: Ground, data: bytes) -> str:
    """A frame must end in time once it has begun, even after complete frames."""
    before = ground.met("frame_time")
    clients = []
    for _ in range(ground.times(20, 200)):
        clients.append(ground.client())
        clients[-1].ask(BEAT, 4)
        clients[-1].send(data)
    return _all_end(ground, clients, "frame_time", before)


@case("a byte at a time, and a long pause after each", on=OPEN)
def drop_by_drop(ground: Ground) -> str:
    client = ground.client()
    for n in range(len(beat())):
        if not client.send(beat()[n : n + 1]) or client.silent(0.1) is False:
            return f"closed after {n} bytes"
    raise NotHeldError("it was never closed")


@case("large frames, a byte at a time", on=RULED)
def trickles(ground: Ground) -> str:
    """The beginning of a frame of 90 MiB that the rules must read takes no memory for bytes that did not arrive."""
    clients = [ground.client() for _ in range(30)]
    for client in clients:
        client.ask(BEAT, 4)
        client.send(SIZE.pack(90 * MIB) + metadata(["orders"])[4:])
    for _ in range(ground.times(10, 100)):
        for client in clients:
            client.send(b"x")
    return f"{len(clients)} connections"


@case("a whole request, a byte at a time", on=OPEN)
def patient(ground: Ground) -> str:
    """That is allowed."""
    client = ground.client()
    for byte in beat():
        client.send(bytes([byte]))
    client.answer(BEAT, 4)
    return "answered"


@case("answers that nobody reads", on=OPEN, peak=40)
@case("answers that nobody reads", on=TWO, peak=40)
def answers_not_read(ground: Ground) -> str:
    """The proxy stops reading from brokers for clients that do not read their responses."""
    ground.stage.play = _echoes
    many = 10
    clients = [ground.client(receive=4096) for _ in range(many)]
    asked = ground.times(20, 200)
    for client in clients:
        client.send(b"".join(map(beat, range(asked))))
    sent = settled(lambda: ground.stage.sent)
    return f"{many} clients, {asked} answers of 1 MiB each; {sent >> 20} MiB were taken"


def _echoes(peer: Peer) -> None:
    for frame in peer.frames():
        peer.send(SIZE.pack(MIB) + frame[4:8] + bytes(MIB - 4))


@case("answers read a byte at a time", on=OPEN, peak=40)
def sips(ground: Ground) -> str:
    ground.stage.play = _echoes
    client = ground.client(receive=4096)
    client.send(b"".join(beat(number) for number in range(50)))
    for _ in range(ground.times(2_000, 20_000)):
        client.sock.recv(1)
    return "nothing but that"


@case("answers of the proxy itself that nobody reads", on=RULED, peak=60)
def refusals_not_read(ground: Ground) -> str:
    """The proxy makes refusals without a broker, so only its own limits stop them."""
    clients = [ground.client(receive=4096) for _ in range(5)]
    refused = b"".join(produce([f"secret-{number:04}" * 20], number) for number in range(2_000))
    taken = sum(client.push(refused, ground.times(1, 5)) for client in clients)
    return f"{taken >> 10} KiB of requests were taken"


@case("a broker that reads nothing", on=OPEN, peak=40)
def broker_does_not_read(ground: Ground) -> str:
    ground.stage.play = lambda peer: peer.wait()
    clients = [ground.client() for _ in range(ground.times(2, 5))]
    frame = produce(["orders"], size=80 * MIB)
    taken = sum(client.push(frame, 0.5) for client in clients)
    return f"{taken >> 20} MiB were taken of {len(clients) * len(frame) >> 20}"


@case("a client that says goodbye and waits for its answers", on=OPEN)
def half_closed(ground: Ground) -> str:
    """That is allowed."""
    client = ground.client()
    client.send(beat(1) + beat(2))
    client.half_close()
    client.answer(BEAT, 4, 1)
    client.answer(BEAT, 4, 2)
    client.ends()
    return "answered twice, then closed"


@case("a goodbye in the middle of a request", on=OPEN)
def half_a_goodbye(ground: Ground) -> str:
    clients = [ground.client() for _ in range(ground.times(20, 200))]
    for client in clients:
        client.send(beat()[:-3])
        client.half_close()
    for client in clients:
        client.ends()
    return "closed"
