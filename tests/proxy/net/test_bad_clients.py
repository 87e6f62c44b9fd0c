"""Bytes that no Kafka client sends: the connection is closed, and one clear line says why."""

from __future__ import annotations

import struct

import pytest
from structlog.testing import capture_logs

from proxy.net.complaints import AT_ONCE
from proxy.protocol.header import request_frame
from tests.proxy.net.scripted import HEARTBEAT_REQUEST, LOOPBACK, Broker, configuration, connected, port_of, serving

HELLO = bytes.fromhex("16030100c8010000c40303")  # as TLS clients begin
WELL = request_frame(HEARTBEAT_REQUEST, 4, 1, None)


@pytest.mark.parametrize(
    ("sent", "why", "counter"),
    [
        (b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", "HTTP, not Kafka", "bad_frames"),
        (HELLO + bytes(200), "TLS, not Kafka", "bad_frames"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH, not Kafka", "bad_frames"),
        (struct.pack(">ihhi", -1, 12, 4, 1), "a frame of -1 bytes", "bad_frames"),
        (struct.pack(">ihhi", -(2**31), 12, 4, 1), "a frame of -2,147,483,648 bytes", "bad_frames"),
        (struct.pack(">ihhi", 0, 12, 4, 1), "a frame of 0 bytes", "bad_frames"),
        (struct.pack(">ihhi", 2**31 - 1, 12, 4, 1), "a frame of 2,147,483,647 bytes, over the limit", "bad_frames"),
        (struct.pack(">ihhi", (100 << 20) + 1, 0, 9, 1), "over the limit of 104,857,600", "bad_frames"),
        (struct.pack(">ihhi", 8, 9999, 0, 1), "9999", "unknown_apis"),
        (struct.pack(">ihhi", 8, -1, 0, 1), "unknown API", "unknown_apis"),
        (struct.pack(">ihhi", 8, 12, 99, 1), "99", "unknown_apis"),
        (struct.pack(">ihhi", 8, 58, 0, 1), "Envelope", "unknown_apis"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("before", [b"", WELL], ids=["first", "later"])
async def test_a_bad_frame_closes_the_connection_with_one_line(
    broker: Broker, before: bytes, sent: bytes, why: str, counter: str
) -> None:
    config = configuration(broker.endpoint)
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(before + sent)
            while not await client.is_closed():  # answers to older requests come first
                pass
            assert gateway.report().reading[counter] == 1
    (line,) = [line for line in logs if line["log_level"] != "info"]
    assert line["event"] == "connection ended"
    assert why in line["why"]
    assert line["client"].startswith(LOOPBACK)


@pytest.mark.parametrize("cut", [1, 3, 7, 11, len(WELL) - 1])
async def test_a_frame_that_was_cut_short_takes_only_its_own_connection_with_it(broker: Broker, cut: int) -> None:
    config = configuration(broker.endpoint)
    async with serving(config), connected(LOOPBACK, port_of(config, 1)) as other:
        assert await other.beat() == 0
        async with connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(WELL[:cut])
            await client.stream.send_eof()
            assert await client.is_closed()
        assert await other.beat() == 0


async def test_a_flood_of_bad_clients_is_counted_in_full_and_told_in_a_few_lines(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    with capture_logs() as logs:
        async with serving(config) as gateway:
            for number in range(5 * AT_ONCE):
                async with connected(LOOPBACK, port_of(config, 1)) as client:
                    await client.send(struct.pack(">ihhi", 8, 9999 - number, 0, 1))  # each for another reason
                    assert await client.is_closed()
            assert gateway.report().reading["ended_by_fault"] == 5 * AT_ONCE
    ended = [line for line in logs if line["event"] == "connection ended"]
    assert AT_ONCE <= len(ended) < 2 * AT_ONCE
    (summed,) = [line for line in logs if line["event"] == "lines left out"]
    left_out = sum(line.get("left_out", 0) for line in ended) + summed["lines"]["connection ended"]
    assert len(ended) + left_out == 5 * AT_ONCE
