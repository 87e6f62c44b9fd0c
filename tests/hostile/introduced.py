"""Brokers that authenticate the proxy: they ask for endless work, lead back to it, and have names that hang."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from proxy.protocol.api import SASL_AUTHENTICATE, SASL_HANDSHAKE
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeResponse
from tests.hostile.brokers import OTHER, asked, goes_to
from tests.hostile.canary import HOST, REAL
from tests.hostile.client import Client, connect, patiently
from tests.hostile.ground import Ground, Setting
from tests.hostile.logins import handshake, token
from tests.hostile.requests import BEAT, beat
from tests.hostile.settings import clusters
from tests.hostile.stage import NODE, Peer, Stage
from tests.hostile.trial import case

SLOWEST = 3.0  # seconds for a client of another cluster; ten million rounds take 5
FEW = 60  # connections that one may become until a loop is noticed
HANGING = range(3, 6)  # brokers
NAME = "kafka.example"  # of the honest broker

# The system's resolver: some names hang, as those of a name server that does not answer.
RESOLVER = f"""\
import socket, time
look_up = socket.getaddrinfo
def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    name = host.decode() if isinstance(host, bytes) else str(host)
    if not flags & socket.AI_NUMERICHOST:
        if name.startswith("hangs-"):
            time.sleep(20)
        if name == "{NAME}":
            host = "{REAL}"
    return look_up(host, port, family, type, proto, flags)
socket.getaddrinfo = getaddrinfo
"""


def _known(ground: Ground) -> dict[str, Any]:
    both = clusters(ground, 2)
    for name, mechanism in (("cluster-0", "SCRAM-SHA-512"), ("cluster-1", "PLAIN")):
        both["clusters"][name]["sasl"] = {"mechanism": mechanism, "username": "doorkeeper", "password": "of-doorkeeper"}
    return both


def _named(ground: Ground) -> dict[str, Any]:
    return clusters(ground, 2)


KNOWN = Setting("brokers that authenticate us", _known, waits=True)
NAMED = Setting("brokers whose names hang", _named, startup=RESOLVER)


@case("a SCRAM broker that wants ten million rounds of hashing", on=KNOWN)
def rounds(ground: Ground) -> str:
    """Clients of another cluster do not wait while the proxy authenticates."""

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            header, at = read_request_header(frame)
            if header.request_api_key == SASL_AUTHENTICATE.key:
                first = decode(SaslAuthenticateRequest, header.request_api_version, frame[at:]).auth_bytes
                nonce = re.search(rb"r=([^,]+)", bytes(first))
                assert nonce is not None
                token = b"r=%b1,s=c2FsdC1vZi1hLXNhbHQ=,i=10000000" % nonce[1]
                answer = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=token)
                peer.send(response_frame(answer, header.request_api_version, header.correlation_id))
                challenged.append(time.monotonic())
            else:
                peer.send(_agreed(peer, frame))

    challenged: list[float] = []
    ground.unused[0][1].play = play
    client, slowest = ground.client(node=1), 0.0
    for _ in patiently("it is challenged", 60):
        began = time.monotonic()
        client.ask(BEAT, 4)
        slowest = max(slowest, time.monotonic() - began)
        if len(challenged) >= ground.times(2, 4) and time.monotonic() > challenged[-1] + 1:
            break
    assert slowest < SLOWEST, f"another client waited for {slowest:.1f} s"
    return f"{len(challenged)} challenges, {slowest * 1000:.0f} ms at the most"


def _agreed(peer: Peer, frame: bytes) -> bytes:
    """An honest answer; SASL is agreed to."""
    header, _ = read_request_header(frame)
    if header.request_api_key != SASL_HANDSHAKE.key:
        return peer.answer(frame)
    answer = SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN", "SCRAM-SHA-512"])
    return response_frame(answer, header.request_api_version, header.correlation_id)


@case("a client's token on a connection that the proxy authenticated", on=KNOWN)
def guesses(ground: Ground) -> str:
    """No guess of the proxy's name and password reaches the broker: by the right one, the client would be the proxy."""
    tokens: set[bytes] = set()

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            header, at = read_request_header(frame)
            if header.request_api_key != SASL_AUTHENTICATE.key:
                peer.send(_agreed(peer, frame))
                continue
            tokens.add(bytes(decode(SaslAuthenticateRequest, header.request_api_version, frame[at:]).auth_bytes))
            answer = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=b"")
            peer.send(response_frame(answer, header.request_api_version, header.correlation_id))

    listener, stage = ground.unused[1]
    stage.play = play
    for guess in (b"\0doorkeeper\0wrong", b"\0admin\0of-doorkeeper"):
        with Client(connect(ground.port(listener))) as client:
            for request in (handshake(), token(guess, version=1)):
                client.send(request)
                error = int.from_bytes(client.frame()[4:6])
                assert error == ErrorCode.ILLEGAL_SASL_STATE, f"it is answered with error {error}"
    assert tokens == {b"\0doorkeeper\0of-doorkeeper"}, f"{tokens} came to the broker"
    return "refused"


@case("a forwarded port that leads back, where brokers authenticate us", on=KNOWN)
def forwarded(ground: Ground) -> str:
    """One connection becomes few, and the loop is an error in the log."""
    listener, stage = ground.unused[1]
    relay = Stage()
    relay.play = lambda peer: _relay(peer, ground.port(listener, OTHER))

    def play(peer: Peer) -> None:
        peer.stage.told = {NODE: (REAL, peer.stage.port), OTHER: (REAL, relay.port)}
        for frame in peer.frames():
            peer.send(_agreed(peer, frame))

    stage.play = play
    try:
        for _ in patiently("the broker is known", 30):
            with suppress(OSError):
                if OTHER in asked(ground, listener):
                    break
        came = goes_to(ground, listener, OTHER)
        assert came == "closed", came
        assert relay.came < FEW, f"{relay.came} connections"
        for _ in patiently("the log tells of it"):
            if ground.lines("a broker's address is a loop"):
                break
    finally:
        relay.die()
    return f"{relay.came} connections"


def _relay(peer: Peer, port: int) -> None:
    with socket.create_connection((HOST, port)) as there:
        threading.Thread(target=_move, args=(there, peer.sock), daemon=True).start()
        _move(peer.sock, there)


def _move(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    for sock in (source, sink):
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


@case("new names that hang with each answer", on=NAMED, log=200)
def names(ground: Ground) -> str:
    """A broker of another cluster that is told by name can be reached."""
    (bad, stage), (good, honest) = ground.unused

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            seen.append(1)
            hanging = {node: (f"hangs-{len(seen)}-{node}.example", 9) for node in HANGING}
            peer.stage.told = {NODE: (REAL, peer.stage.port)} | hanging
            peer.send(peer.answer(frame))

    seen: list[int] = []
    stage.play = play
    for _ in range(ground.times(60, 90)):
        asked(ground, bad)
        for node in HANGING:
            ground.client(bad, node).send(beat())
    honest.told = {NODE: (NAME, honest.port)}
    asked(ground, good)
    with ground.client(good, NODE) as client:
        client.ask(BEAT, 4)
    return f"{len(HANGING) * len(seen):,} names"
