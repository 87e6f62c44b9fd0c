"""After a TLS handshake: renegotiations, closes, records and key updates that no honest client sends."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from pathlib import Path

from proxy.protocol.frame import SIZE
from tests.hostile.canary import HOST
from tests.hostile.client import Client, patiently
from tests.hostile.ground import Ground
from tests.hostile.requests import beat, produce
from tests.hostile.sealed import RECORD, sealed, trusting
from tests.hostile.settings import CROWDED_TLS, TLS
from tests.hostile.trial import case, cases
from tests.sealing import Sealer12, Sealer13

FEW = 30  # records without data that a server lets pass, in a row
HELLOS = 900


@case("renegotiations without end", on=TLS)
def renegotiations(ground: Ground) -> str:
    """TLS 1.2 lets a client ask for a renegotiation; the proxy refuses it, and ends a client that does nothing else."""
    client, secrets, said = _shaken(ground, ssl.TLSVersion.TLSv1_2)
    sealer = Sealer12(secrets, said[11:43])
    client.send(sealer.record(beat()))
    return _ends(client, b"".join(sealer.renegotiation() for _ in range(ground.times(50_000, 200_000))))


@cases({"the keys changed without end": False, "the keys changed in both directions without end": True}, on=TLS)
def new_keys(ground: Ground, asks: bool) -> str:
    """TLS 1.3 lets a client update keys at any time; the proxy ends a client that does nothing else."""
    client, sealer = _sealing(ground)
    return _ends(client, b"".join(sealer.key_update(asks=asks) for _ in range(ground.times(20_000, 100_000))))


@case("the keys changed between all bytes of requests", on=TLS)
def new_keys_between(ground: Ground) -> str:
    """That is allowed."""
    client, sealer = _sealing(ground)
    pieces, times = [], ground.times(20, 80)
    for byte in beat() * times:
        pieces += [*(sealer.key_update(asks=True) for _ in range(FEW)), sealer.record(bytes([byte]))]
    return _arrives(ground, client, b"".join(pieces), times)


@case("a record for each byte", on=TLS)
def many_records(ground: Ground) -> str:
    """That is allowed."""
    client, sealer = _sealing(ground)
    times, request = ground.times(4, 12), produce(["open-t"], acks=0, size=50_000)
    return _arrives(ground, client, b"".join(sealer.record(bytes([byte])) for byte in request * times), times)


@case(f"{HELLOS} hellos that are completed at the same moment", on=CROWDED_TLS)
def hellos(ground: Ground) -> str:
    context, times = trusting(ground), ground.times(2, 5)
    for _ in range(times):
        begun = [(ground.client(), _hello(context)) for _ in range(HELLOS)]
        for client, hello in begun:
            client.send(hello[:-1])
        assert begun[-1][0].silent(0.5), "half a hello was answered"  # all others have arrived too
        for client, hello in begun:
            client.send(hello[-1:])
        answered = sum(bool(client.receive()) for client, _ in begun)
        assert answered == HELLOS, f"{answered} were answered"
        ground.leave()
    return f"{times} times: answered"


def _hello(context: ssl.SSLContext) -> bytes:
    """The first message of a client."""
    outgoing = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=HOST).do_handshake()
    return outgoing.read()


def _shaken(ground: Ground, newest: ssl.TLSVersion) -> tuple[Client, Path, bytes]:
    """A client after its handshake, the file with its secrets, and the bytes that it received first."""
    context, secrets = trusting(ground), ground.folder / f"secrets-{ground.number()}"
    context.maximum_version, context.keylog_filename = newest, str(secrets)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine, client = context.wrap_bio(incoming, outgoing, server_hostname=HOST), ground.client()
    return client, secrets, _shake(engine, incoming, outgoing, client)


def _sealing(ground: Ground) -> tuple[Client, Sealer13]:
    """A client after its handshake and a first request, and what seals its records."""
    client, secrets, _ = _shaken(ground, ssl.TLSVersion.TLSv1_3)
    sealer = Sealer13(secrets)
    client.send(sealer.record(beat()))
    return client, sealer


def _ends(client: Client, records: bytes) -> str:
    """The client sends these, which are no data, and is ended for that. No other limit is near, after a request."""
    client.push(records, 5)
    client.ends()
    return "closed"


def _arrives(ground: Ground, client: Client, records: bytes, requests: int) -> str:
    """The client sends these, and so many requests reach the broker after the first."""
    client.push(records, 5)
    for _ in patiently("all requests arrive"):
        if len(ground.stage.asked) > requests:
            break
    return f"{requests} requests arrived"


@case("data behind a goodbye", on=TLS)
def behind_goodbye(ground: Ground) -> str:
    context = trusting(ground)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine = context.wrap_bio(incoming, outgoing, server_hostname=HOST)
    client = ground.client()
    _shake(engine, incoming, outgoing, client)
    engine.write(beat())
    with suppress(ssl.SSLError):
        engine.unwrap()
    client.send(outgoing.read() + beat() * 1_000)
    client.half_close()
    client.ends()
    return "closed"


@case("empty records without end", on=TLS)
def empty_records(ground: Ground) -> str:
    client = ground.client()
    client.push((RECORD + b"\0\0") * ground.times(100_000, 1_000_000), 2)
    client.half_close()
    client.ends()
    return "closed"


@case("a request cut by a reset, inside TLS", on=TLS)
def resets(ground: Ground) -> str:
    context, times = trusting(ground), ground.times(50, 500)
    for _ in range(times):
        client = sealed(ground, context)
        client.send(SIZE.pack(1 << 20) + beat()[4:])
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    return f"{times} times"


def _shake(engine: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, client: Client) -> bytes:
    """Do a handshake, and give the bytes that were received."""
    received = b""
    while True:
        try:
            engine.do_handshake()
        except ssl.SSLWantReadError:
            client.send(outgoing.read())
            received += (some := client.sock.recv(1 << 16))
            incoming.write(some)
        else:
            client.send(outgoing.read())
            return received
