"""The rig works: the programs build, and they speak the Kafka protocol. Nothing here is about time.

This is the one part of the suite that needs a C compiler: where gcc is missing, the tests fail with the line that
says how to install it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from struct import unpack_from

import pytest
import trio

from proxy.protocol import decode_request, decode_response, encode
from proxy.protocol.api import APIS
from proxy.protocol.header import read_request_header, read_response_header
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.records.batch import RecordBatch, batches
from proxy.protocol.schema import Message
from tests.bench.contenders import Direct, Relay
from tests.bench.lane import Lane
from tests.bench.processes import cpu_seconds, memory_mb
from tests.bench.rig import HOST, Address, Brokers, RigError, load


@pytest.fixture(scope="module")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    with Lane(Direct(), tmp_path_factory.mktemp("bench"), brokers=3) as lane:
        yield lane


def few(lane: Lane, **options: str | float) -> int:
    """The number of responses that a bounded load gets."""
    return load(lane.proxy.bootstrap, warmup=0, requests=60, **options).requests


@pytest.mark.parametrize("api", ["produce", "fetch", "metadata", "apiversions"])
def test_every_answer_comes_and_is_right(lane: Lane, api: str) -> None:
    assert few(lane, api=api, connections=6, inflight=5) == 60


def test_large_frames_pass_whole(lane: Lane) -> None:
    assert few(lane, api="produce", connections=2, inflight=3, size=1 << 20) == 60
    assert few(lane, api="fetch", connections=2, inflight=3, size=1 << 20) == 60


def test_the_relay_moves_all_that_comes(tmp_path: Path) -> None:
    with Lane(Relay(), tmp_path) as lane:
        assert few(lane, api="metadata", connections=6, inflight=5) == 60
        assert few(lane, api="produce", connections=2, inflight=3, size=1 << 20) == 60
        assert few(lane, api="fetch", connections=2, inflight=3, size=1 << 20) == 60


@pytest.mark.parametrize("api", ["produce", "fetch"])
def test_a_request_may_be_about_many_topics(lane: Lane, api: str) -> None:
    assert few(lane, api=api, topics=100, connections=2, inflight=3) == 60
    assert few(lane, api=api, topics=20, vary=16, mixed=1, connections=2, inflight=3) == 60


def test_fetches_go_on_in_a_session(lane: Lane) -> None:
    assert few(lane, api="fetch", session=1, vary=4, connections=6, inflight=2) == 60


def test_an_open_loop_asks_by_the_clock(lane: Lane) -> None:
    assert few(lane, rate=2000, connections=3, inflight=2) == 60


def test_what_goes_wrong_is_one_line(lane: Lane) -> None:
    with pytest.raises(RigError, match=r"^bootstrap: topic nobody: error code 3$"):
        few(lane, topic="nobody")


def test_a_process_knows_what_it_cost() -> None:
    before = cpu_seconds(os.getpid())
    subprocess.run(["python3", "-c", "sum(range(3_000_000))"], check=True)
    assert cpu_seconds(os.getpid()) > before
    assert memory_mb(os.getpid()) > 1


@dataclass
class Tape:
    """The bytes of every connection in both directions, as they were on the wire."""

    connections: list[tuple[bytearray, bytearray]] = field(default_factory=list)

    async def record(self, brokers: Address, client: trio.SocketStream) -> None:
        asked, answered = bytearray(), bytearray()
        self.connections.append((asked, answered))
        async with await trio.open_tcp_stream(brokers.host, brokers.port) as broker, trio.open_nursery() as nursery:
            nursery.start_soon(copy, client, broker, asked)
            nursery.start_soon(copy, broker, client, answered)

    def exchanges(self) -> Iterator[tuple[bytes, bytes]]:
        for asked, answered in self.connections:
            yield from zip(frames(asked), frames(answered), strict=True)


async def copy(source: trio.SocketStream, target: trio.SocketStream, tape: bytearray) -> None:
    async for data in source:
        tape += data
        await target.send_all(data)
    await target.send_eof()


def frames(stream: bytearray) -> Iterator[bytes]:
    at = 0
    while at < len(stream):
        (size,) = unpack_from(">i", stream, at)
        yield bytes(stream[at + 4 : at + 4 + size])
        at += 4 + size


def read(asked: bytes, answered: bytes) -> tuple[Message, Message]:
    """Decode both messages; Doorkeeper must encode them to the same bytes."""
    header, at = read_request_header(asked)
    api, version = APIS[header.request_api_key], header.request_api_version
    request = decode_request(api.key, version, asked[at:])
    assert encode(request, version) == asked[at:]
    answer, at = read_response_header(api, version, answered)
    assert answer.correlation_id == header.correlation_id
    response = decode_response(api.key, version, answered[at:])
    assert encode(response, version) == answered[at:]
    return request, response


@pytest.mark.parametrize(
    "options",
    [
        {"api": "produce", "version": 9},
        {"api": "produce", "version": 11, "size": 16384},
        {"api": "fetch", "size": 16384},
        {"api": "fetch", "session": 1},
        {"api": "metadata"},
        {"api": "apiversions"},
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)
async def test_the_frames_are_kafkas(options: dict[str, str | float], tmp_path: Path) -> None:
    tape = Tape()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host=HOST)
        relay = Address(HOST, listener.socket.getsockname()[1])
        brokers = Brokers(tmp_path / "brokers.log", topics=100, partitions=10, advertised=[relay])
        nursery.start_soon(trio.serve_listeners, partial(tape.record, brokers.addresses[0]), [listener])
        try:
            await trio.to_thread.run_sync(partial(load, relay, warmup=0, requests=20, connections=3, **options))
        finally:
            brokers.stop()
            nursery.cancel_scope.cancel()
    exchanges = [read(*each) for each in tape.exchanges()]
    assert len(exchanges) >= 20
    for request, response in exchanges:
        if isinstance(request, ProduceRequest):
            check(request.topic_data[0].partition_data[0].records)
        if isinstance(response, FetchResponse):
            assert bool(response.session_id) == bool(options.get("session"))
            check(response.responses[0].partitions[0].records)
        if isinstance(response, MetadataResponse):
            assert [(broker.host, broker.port) for broker in response.brokers] == [(relay.host, relay.port)]


def check(records: bytes | memoryview | None) -> None:
    assert records is not None
    (batch,) = batches(records)
    assert isinstance(batch, RecordBatch)
    assert batch.is_intact
    (record,) = batch.records()
    assert record.value
