"""After a TLS handshake: renegotiations, closes, records and key updates that no honest client sends."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from contextlib import suppress

from proxy.protocol.frame import SIZE
from tests.hostile.canary import HOST
from tests.hostile.client import Client
from tests.hostile.ground import Ground
from tests.hostile.requests import BEAT, beat
from tests.hostile.sealed import RECORD, sealed, trusting
from tests.hostile.settings import TLS
from tests.hostile.trial import case

NO_OPENSSL = "not tried: there is no openssl on this machine"


@case("a renegotiation", on=TLS)
def renegotiation(ground: Ground) -> str:
    """TLS 1.2 lets a client ask for a renegotiation; the proxy refuses it."""
    done = _openssl(ground, "-tls1_2", b"R\n" * 20)
    if done is None:
        return NO_OPENSSL
    assert b"RENEGOTIATING" in done.stdout + done.stderr, "openssl did not ask"
    assert done.returncode, "the proxy went into it"
    return "refused"


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


@case("a record for each byte", on=TLS)
def many_records(ground: Ground) -> str:
    """That is allowed."""
    client = sealed(ground, trusting(ground))
    for _ in range(ground.times(20, 500)):
        for byte in beat():
            client.send(bytes([byte]))
        client.answer(BEAT, 4)
    return "answered"


@case("empty records without end", on=TLS)
def empty_records(ground: Ground) -> str:
    client = ground.client()
    client.push((RECORD + b"\0\0") * ground.times(100_000, 1_000_000), 2)
    client.half_close()
    client.ends()
    return "closed"


@case("the keys changed again and again", on=TLS)
def new_keys(ground: Ground) -> str:
    """TLS 1.3 lets a client update keys at any time."""
    times = ground.times(100, 5_000)
    return NO_OPENSSL if _openssl(ground, "-tls1_3", b"K\n" * times) is None else f"{times} times"


def _openssl(ground: Ground, version: str, typed: bytes) -> subprocess.CompletedProcess[bytes] | None:
    """Run `openssl s_client`, for requests that Python's ssl cannot make; None where it is not installed."""
    if shutil.which("openssl") is None:
        return None
    command = ["openssl", "s_client", version, "-connect", f"{HOST}:{ground.port()}"]
    return subprocess.run(command, input=typed, capture_output=True, timeout=20)


@case("a request cut by a reset, inside TLS", on=TLS)
def resets(ground: Ground) -> str:
    context, times = trusting(ground), ground.times(50, 500)
    for _ in range(times):
        client = sealed(ground, context)
        client.send(SIZE.pack(1 << 20) + beat()[4:])
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    return f"{times} times"


def _shake(engine: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, client: Client) -> None:
    while True:
        try:
            engine.do_handshake()
        except ssl.SSLWantReadError:
            client.send(outgoing.read())
            incoming.write(client.sock.recv(1 << 16))
        else:
            client.send(outgoing.read())
            return
