"""A TLS socket with the interface of a plain one."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest

from proxy.config.tls import ClusterTls, ListenerTls
from proxy.net.tls.contexts import for_brokers, for_clients
from proxy.net.tls.records import RECORDS
from proxy.net.tls.sayings import BarrenError
from proxy.net.tls.sockets import BARREN, TlsSocket
from tests.certificates import Authority
from tests.proxy.net.tls.pairs import ends, read_all, shaken
from tests.sealing import Sealer13

Pair = tuple[TlsSocket, TlsSocket]


@pytest.fixture
async def pair(tmp_path: Path) -> Pair:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server", "kafka.example.com")
    server = for_clients(ListenerTls(certificate=str(certificate), key=str(key)), lambda name: True)
    client = for_brokers(ClusterTls(ca=str(authority.file)))
    client.keylog_filename = str(tmp_path / "secrets")
    one, two = ends(server, client)
    assert await shaken(one, two) == []
    return one, two


@pytest.fixture
def sealer(pair: Pair, tmp_path: Path) -> Sealer13:
    return Sealer13(tmp_path / "secrets")


def pushed(client: TlsSocket, records: bytes) -> None:
    client._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(records))
    assert client._sock.send(records) == len(records)


async def test_what_is_sent_arrives_in_both_directions(pair: Pair) -> None:
    for sender, receiver in (pair, pair[::-1]):
        assert sender.send(b"hello") == 5
        assert read_all(receiver) == b"hello"


async def test_a_reader_waits_as_with_a_socket(pair: Pair) -> None:
    assert read_all(pair[1]) == b""
    with pytest.raises(BlockingIOError):
        pair[0].recv_into(memoryview(bytearray(10)), 10)


async def test_a_read_takes_what_there_is_room_for_and_knows_that_there_is_more(pair: Pair) -> None:
    pair[0].send(b"0123456789")
    room = memoryview(bytearray(10))
    assert pair[1].recv_into(room, 4) == 4
    assert pair[1].ahead
    assert read_all(pair[1]) == b"456789"
    assert not pair[1].ahead


async def test_a_read_of_a_rest_takes_what_came_since(pair: Pair) -> None:
    """The event that told of it led to this read, and there is no other."""
    room = memoryview(bytearray(100))
    pair[0].send(b"0123456789")
    assert pair[1].recv_into(room, 4) == 4
    pair[0].send(b"abc")
    assert bytes(room[: pair[1].recv_into(room, 100)]) == b"456789abc"


async def test_what_the_socket_does_not_take_is_sent_again_and_sealed_once(pair: Pair) -> None:
    one, two = pair
    data = bytes(range(256)) * (16 << 10)  # 4 MiB: more than the kernel keeps
    sent, arrived = one.send(data), b""
    assert 0 <= sent < len(data)
    assert one.outgoing.unsent
    with pytest.raises(BlockingIOError):
        one.send(data[sent : sent + 10])
    while sent < len(data):
        arrived += read_all(two)
        piece = 1000 if sent % 2 else len(data)  # what was cut may come again in other pieces
        sent += one.send(data[sent : sent + piece])
    assert arrived + read_all(two, len(data)) == data


async def test_pieces_are_sent_as_far_as_the_socket_takes_them(pair: Pair) -> None:
    one, two = pair
    pieces: list[bytes | bytearray | memoryview] = [b"head", bytes(200_000), b"between", bytes(range(256)) * 16_000]
    whole, sent, arrived = b"".join(pieces), 0, b""
    assert one.sendmsg([b"all", b" of it"]) == 9
    assert read_all(two) == b"all of it"
    while sent < len(whole):
        sent += one.sendmsg([memoryview(whole)[sent : sent + 5], memoryview(whole)[sent + 5 :]] if sent else pieces)
        arrived += read_all(two)
    while one.outgoing.unsent:
        one.outgoing.push()
        arrived += read_all(two)
    assert arrived == whole


async def test_goodbye_ends_the_stream(pair: Pair) -> None:
    pair[0].send(b"last")
    pair[0].close()
    assert read_all(pair[1]) == b"last"
    assert pair[1].recv_into(memoryview(bytearray(10)), 10) == 0


async def test_a_socket_that_just_closes_ends_the_stream_too(pair: Pair) -> None:
    pair[0]._sock.close()
    assert pair[1].recv_into(memoryview(bytearray(10)), 10) == 0


async def test_what_follows_a_goodbye_is_not_looked_at(pair: Pair) -> None:
    one, two = pair
    one.send(b"last")
    with pytest.raises(ssl.SSLWantReadError):
        one.tls.unwrap()
    one.outgoing.push()
    one._sock.send(b"\x17\x03\x03\x00\x20 and more" * 1000)
    assert read_all(two) == b"last"
    for _ in range(3):
        assert two.recv_into(memoryview(bytearray(10)), 10) == 0


@pytest.mark.parametrize("size", [1, 100, 16 << 10, 64 << 10, (64 << 10) - 22, 100_000])
@pytest.mark.parametrize("room", [7, 4096, 256 << 10])
async def test_a_short_read_has_read_all_that_the_socket_had(pair: Pair, size: int, room: int) -> None:
    one, two = pair
    read_all(two)
    data = bytes(range(256)) * (size // 256 + 1)
    sent = one.send(data[:size])
    into, arrived, count = memoryview(bytearray(room)), b"", room
    while count == room and len(arrived) < sent:
        count = two.recv_into(into, room)
        arrived += into[:count]
    assert arrived == data[:sent]
    assert not two.ahead
    with pytest.raises(BlockingIOError):
        two._sock.recv(1)


async def test_damaged_bytes_are_an_error_of_the_socket(pair: Pair) -> None:
    pair[0]._sock.send(b"\x17\x03\x03\x00\x20" + bytes(32))
    with pytest.raises(OSError, match=r"(?i)mac|decrypt"):
        pair[1].recv_into(memoryview(bytearray(10)), 10)


async def test_one_read_opens_so_many_records_and_knows_that_there_are_more(pair: Pair, sealer: Sealer13) -> None:
    data = bytes(range(256)) * 8
    pushed(pair[1], b"".join(sealer.record(data[at : at + 1]) for at in range(len(data))))
    room, found, counts = memoryview(bytearray(4096)), b"", []
    while len(found) < len(data):
        counts.append(pair[0].recv_into(room, len(room)))
        found += room[: counts[-1]]
        assert pair[0].rest or len(found) == len(data)
    assert found == data
    assert max(counts) <= RECORDS
    assert read_all(pair[0]) == b""
    assert not pair[0].rest


async def test_records_that_wait_are_ahead_and_held(pair: Pair, sealer: Sealer13) -> None:
    pushed(pair[1], sealer.record(b"x") * 1000)
    before = pair[0].held
    pair[0].fill()
    assert pair[0].ahead
    assert pair[0].held == before + len(sealer.record(b"x")) * 1000


async def test_a_peer_that_only_changes_its_keys_is_ended(pair: Pair, sealer: Sealer13) -> None:
    pushed(pair[1], b"".join(sealer.key_update() for _ in range(BARREN)) + sealer.record(b"x"))
    assert read_all(pair[0]) == b"x"
    pushed(pair[1], b"".join(sealer.key_update() for _ in range(1000)))
    with pytest.raises(BarrenError, match="without data"):
        pair[0].recv_into(memoryview(bytearray(10)), 10)


async def test_changes_of_keys_that_come_one_by_one_are_counted_too(pair: Pair, sealer: Sealer13) -> None:
    for _ in range(BARREN):
        pushed(pair[1], sealer.key_update())
        assert read_all(pair[0]) == b""
    pushed(pair[1], sealer.key_update())
    with pytest.raises(BarrenError):
        pair[0].recv_into(memoryview(bytearray(10)), 10)


async def test_a_read_opens_so_many_changes_of_keys_between_data(pair: Pair, sealer: Sealer13) -> None:
    one = b"".join(sealer.key_update() for _ in range(BARREN - 2)) + sealer.record(b"x")
    pushed(pair[1], one)
    room = memoryview(bytearray(100))
    assert pair[0].recv_into(room, 100) == 1
    several = b"".join(sealer.key_update() if at % BARREN else sealer.record(b"x") for at in range(10 * BARREN))
    pushed(pair[1], several)
    assert pair[0].recv_into(room, 100) <= RECORDS // BARREN + 1
    assert pair[0].rest
    assert len(read_all(pair[0])) == 10 - RECORDS // BARREN - 1


async def test_answers_of_tls_itself_are_held_until_there_is_data_to_send(pair: Pair, sealer: Sealer13) -> None:
    before = pair[0].held
    pushed(pair[1], b"".join(sealer.key_update(asks=True) for _ in range(BARREN)))
    assert read_all(pair[0]) == b""
    assert pair[0].held > before + 20 * BARREN
    pair[0].send(b"data")
    assert pair[0].held == 0
    assert read_all(pair[1]) == b"data"


async def test_a_part_of_a_record_is_read_to_its_end_even_if_the_peer_has_closed(pair: Pair, sealer: Sealer13) -> None:
    """A call ends after the part, and says that there may be more, since no event comes after the close."""
    read_all(pair[0])
    record, room = sealer.record(b"data"), memoryview(bytearray(10))
    pushed(pair[1], record[:-3])
    with pytest.raises(BlockingIOError):
        pair[0].recv_into(room, 10)
    assert pair[0].rest
    pushed(pair[1], record[-3:])
    pair[1]._sock.shutdown(socket.SHUT_WR)
    assert pair[0].recv_into(room, 10) == 4
    assert pair[0].recv_into(room, 10) == 0
