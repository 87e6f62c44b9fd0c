"""The handshake turns a connection into a TLS connection, or gives one reason for its failure."""

from __future__ import annotations

import random
import socket
import ssl
from pathlib import Path

import pytest

from proxy.config.tls import ClusterTls, ListenerTls
from proxy.net.tls.contexts import for_brokers, for_clients
from proxy.net.tls.handshake import MOST, HandshakeError, shake_hands
from proxy.net.tls.records import RECORDS
from proxy.net.tls.sockets import TlsSocket
from tests.certificates import Authority
from tests.proxy.net.tls.pairs import ends, read_all, shaken


@pytest.fixture
def server(tmp_path: Path) -> ssl.SSLContext:
    certificate, key = Authority(tmp_path).issue("server", "kafka.example.com")
    return for_clients(ListenerTls(certificate=str(certificate), key=str(key)), lambda name: True)


async def refusal(server: ssl.SSLContext, said: bytes, *, seconds: float = 5, silent: bool = False) -> str:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        theirs.sendall(said)
        if not silent:
            theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(HandshakeError) as refused:
            await shake_hands(TlsSocket(ours, server), seconds)
    return str(refused.value)


KAFKA = bytes.fromhex("00000012 0012 0003 00000001 0004 74657374 00 0461 0461 00")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (KAFKA, "it speaks Kafka without TLS"),
        (b"GET / HTTP/1.1\r\n\r\n", "it speaks HTTP, not TLS"),
        (b"", "it closed the connection"),
        (b"\x16\x03\x01\x02\x00\x01", "it closed the connection"),
        (b"\x80\x2e\x01\x03\x03" + bytes(43), "it does not speak TLS"),  # a hello in the form of SSL 2
        (b"\x16\x03\x01\x00\x01\x01" * 1000, f"more than {RECORDS} records before it was done"),
    ],
)
async def test_who_does_not_speak_tls_is_told_apart(server: ssl.SSLContext, said: bytes, why: str) -> None:
    assert why in await refusal(server, said)


async def test_a_slow_handshake_is_over_in_time(server: ssl.SSLContext) -> None:
    assert "not done within 0.01 s" in await refusal(server, b"\x16\x03\x01", seconds=0.01, silent=True)


async def test_a_handshake_has_so_many_bytes(server: ssl.SSLContext) -> None:
    hello = b"\x16\x03\x01\x40\x00\x01\x01\xff\xff" + bytes((64 << 10) - 1)
    assert len(await refusal(server, hello + bytes(MOST))) > 0


def flight(context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> bytes:
    """What a client says first."""
    ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(ours, theirs, server_hostname="kafka.example.com")
    if session is not None:
        client.session = session
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return theirs.read()


async def flights(server: ssl.SSLContext, authority: str) -> list[bytes]:
    """Of TLS 1.2, of both versions, and of a client that comes again with a ticket of each."""
    found = []
    for versions in (("TLSv1.2",), ("TLSv1.2", "TLSv1.3")):
        context = for_brokers(ClusterTls(ca=authority, versions=versions))
        one, two = ends(server, context)
        assert await shaken(one, two) == []
        one.send(b"x")
        assert read_all(two) == b"x"  # and the tickets of TLS 1.3
        found += [flight(context), flight(context, two.tls.session)]
    return found


async def test_tickets_leave_with_the_first_answer(server: ssl.SSLContext, tmp_path: Path) -> None:
    one, two = ends(server, for_brokers(ClusterTls(ca=str(tmp_path / "ca.pem"))))
    assert await shaken(one, two) == []
    with pytest.raises(BlockingIOError):
        two.fill()
    one.send(b"x")
    assert read_all(two) == b"x"
    session = two.tls.session
    assert session is not None
    assert session.has_ticket


async def test_a_name_that_is_none_is_one_reason_and_no_traceback(
    server: ssl.SSLContext, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for said in (await flights(server, str(tmp_path / "ca.pem")))[::2]:
        why = await refusal(server, said.replace(b"kafka.example", b"k\xe4fk\xe4.example"))
        assert why == r"it asked for host b'k\xe4fk\xe4.example.com' (SNI), which is no name"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("times", [400, pytest.param(100_000, marks=pytest.mark.long)])
async def test_mutated_first_flights_are_refused(server: ssl.SSLContext, tmp_path: Path, times: int) -> None:
    dice, said = random.Random(7), await flights(server, str(tmp_path / "ca.pem"))
    assert len(set(said)) == 4
    for _ in range(times):
        changed = bytearray(dice.choice(said))
        for _ in range(dice.randint(1, 8)):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        assert await refusal(server, bytes(changed[: dice.choice((dice.randint(1, len(changed)), len(changed)))]))


async def test_a_server_that_does_not_speak_tls_is_said_to_do_so() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        theirs.sendall(b"SSH-2.0-OpenSSH\r\n")
        with pytest.raises(HandshakeError, match="does not speak TLS"):
            await shake_hands(TlsSocket(ours, for_brokers(ClusterTls()), "kafka.example.com"), 5)
