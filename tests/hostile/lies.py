"""Lying responses: of the wrong length, to another request, too early, twice, never, or in pieces."""

from __future__ import annotations

import struct
from collections.abc import Callable

from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.produce import ProduceResponse
from tests.hostile.answers import topic_id
from tests.hostile.canary import REAL
from tests.hostile.ground import Ground
from tests.hostile.requests import beat, by_id, metadata, produce
from tests.hostile.settings import BROKERS, OPEN
from tests.hostile.stage import Peer, Play, silent
from tests.hostile.trial import case, cases

NUMBER = 7
Lie = Callable[[bytes], bytes]  # from the honest response to the bytes that are sent


def _numbered(number: int) -> Lie:
    return lambda honest: honest[:4] + struct.pack(">i", number) + honest[8:]


def _sized(size: int) -> Lie:
    return lambda honest: struct.pack(">i", size) + honest[4:]


def _always(told: bytes) -> Play:
    """Answer each request with this, under the number of the request."""

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            peer.send(_numbered(int.from_bytes(frame[4:8], signed=True))(told))

    return play


def _slowly(peer: Peer) -> None:
    for frame in peer.frames():
        for byte in peer.answer(frame):
            peer.send(bytes([byte]))


WRONG: dict[str, Lie] = {
    "of -1 bytes": _sized(-1),
    "of no bytes": _sized(0),
    "of 3 bytes": _sized(3),
    "of 2 GiB": _sized(2**31 - 1),
    "one byte over the limit": _sized((100 << 20) + 1),
    "that is HTTP": lambda honest: b"HTTP/1.1 200 OK\r\n\r\n",
    "to another question": _numbered(NUMBER + 1),
    "to question -1": _numbered(-1),
    "twice": lambda honest: honest * 2,
    "that is cut, and then another": lambda honest: _sized(len(honest) - 14)(honest)[: len(honest) - 10] + honest,
    "of nothing but its number": lambda honest: SIZE.pack(4) + honest[4:8],
    "and a megabyte behind it": lambda honest: _sized(len(honest) - 4 + (1 << 20))(honest) + bytes(1 << 20),
    "of 0xff": lambda honest: honest[:8] + b"\xff" * (len(honest) - 8),
}
ASKED = {
    "Metadata": metadata(["orders"], NUMBER),
    "Heartbeat": beat(NUMBER),
}


@cases(
    {f"an answer {how}, to {what}": (WRONG[how], frame) for how in WRONG for what, frame in ASKED.items()}, on=BROKERS
)
def wrong(ground: Ground, said: tuple[Lie, bytes]) -> str:
    """The client gets a response or is closed; it is closed where the response cannot be to its request."""
    lie, frame = said

    def play(peer: Peer) -> None:
        for each in peer.frames():
            peer.send(lie(peer.answer(each)))
        peer.wait()

    client = ground.client(ground.cluster(play))
    client.send(frame)
    client.half_close()
    client.sock.settimeout(1)
    try:
        client.ends()
    except AssertionError:
        return "still open: the rest of the answer may come"
    return f"{len(client.told)} bytes, then closed"


def _backwards(peer: Peer) -> None:
    frames = peer.frames()
    for first, second in zip(frames, frames, strict=False):
        peer.send(peer.answer(second) + peer.answer(first))
    peer.wait()


BEHAVIOUR: dict[str, Callable[[Peer], object]] = {
    "speaks before it is asked": lambda peer: [peer.send(beat()), peer.wait()],
    "speaks before it is asked, of 2 GiB": lambda peer: [peer.send(b"\x7f\xff\xff\xff" + bytes(100)), peer.wait()],
    "never answers": silent,
    "closes when it is asked": lambda peer: next(peer.frames(), None),
    "dies in the middle of its answer": lambda peer: peer.send(peer.answer(next(peer.frames()))[:-5]),
    "resets in the middle of its answer": lambda peer: peer.reset_after(peer.answer(next(peer.frames()))[:-5]),
    "answers a byte at a time": _slowly,
    "answers in the wrong order": _backwards,
    "answers a thousand times": lambda peer: [peer.send(peer.answer(frame) * 1_000) for frame in peer.frames()],
}


@cases({f"a broker that {what}": play for what, play in BEHAVIOUR.items()}, on=BROKERS)
def behaves(ground: Ground, play: Callable[[Peer], object]) -> str:
    """Whatever the broker does, it harms only its own clients."""
    client = ground.client(ground.cluster(play))
    client.send(metadata(["orders"], NUMBER) + beat(NUMBER + 1))
    client.half_close()
    client.sock.settimeout(1)
    try:
        client.ends()
    except AssertionError:
        return f"{len(client.told)} bytes, and waits for its answers"
    return f"{len(client.told)} bytes, then closed"


def _versions(*known: tuple[int, int, int]) -> ApiVersionsResponse:
    entry = ApiVersionsResponse.ApiVersion
    keys = [entry(api_key=key, min_version=low, max_version=high) for key, low, high in known]
    return ApiVersionsResponse(error_code=0, api_keys=keys)


VERSIONS = {
    "none at all": _versions(),
    "whose least is more than the greatest": _versions((3, 12, 0), (18, 4, 0)),
    "below zero": _versions((3, -5, -1), (18, -32_768, 32_767)),
    "of 30,000 APIs": _versions(*((key, 0, 3) for key in range(30_000))),
    "of the same API ten times": _versions(*(((3, 0, 12),) * 10)),
    "of API -1": _versions((-1, 0, 3), (32_767, 0, 32_767)),
}


@cases({f"versions {what}": told for what, told in VERSIONS.items()}, on=BROKERS)
def versions(ground: Ground, told: ApiVersionsResponse) -> str:
    """A broker's ApiVersions response is a lie."""

    def play(peer: Peer) -> None:
        for _ in peer.frames():
            peer.send(response_frame(told, 3, NUMBER))

    client = ground.client(ground.cluster(play))
    asked = ApiVersionsRequest(client_software_name="hostile", client_software_version="1")
    client.send(request_frame(asked, 3, NUMBER, "hostile"))
    client.half_close()
    client.ends()
    return f"{len(client.told):,} bytes, then closed"


@case("versions of 49,000 APIs, on many connections that stay", on=BROKERS, peak=60, kept=40)
def versions_kept(ground: Ground) -> str:
    """The proxy remembers what a connection's broker speaks, and takes as little for each connection as ever."""
    told = response_frame(_versions(*((key, key % 3_000 + 300, 9_999) for key in range(-18_000, 31_000))), 0, NUMBER)

    port = ground.cluster(_always(told))
    times = ground.times(10, 60)
    for _ in range(times):
        client = ground.client(port)
        client.send(request_frame(ApiVersionsRequest(), 0, NUMBER, "hostile"))
        client.frame()
    return f"{times} answers of {len(told):,} bytes"


@case("a quorum of nothing but commas", on=OPEN, peak=120)
def voters(ground: Ground) -> str:
    """Each voter would become an address: the answer would be twelve times as long."""
    config = DescribeConfigsResponse.Result.Config
    commas = config(
        name="controller.quorum.voters", value="," * 32_767, read_only=True, is_sensitive=False, config_source=4
    )
    result = DescribeConfigsResponse.Result(
        error_code=0,
        error_message=None,
        resource_type=4,
        resource_name="1",
        configs=[commas] * ground.times(30, 300),
    )
    told = response_frame(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), 3, 1)

    ground.stage.play = _always(told)
    asked = DescribeConfigsRequest.Resource(resource_type=4, resource_name="1", configuration_keys=None)
    answer = ground.client().ask(DescribeConfigsRequest(resources=[asked]), 3)
    shown = {each.value for each in answer.results[0].configs}
    assert shown == {None}, f"a client was shown {str(shown)[:100]}"
    return f"{len(told):,} bytes, and all values are hidden"


@cases({f"a coordinator at {host[:20]!r}": host for host in ("", "a" * 300, "\0", "é")}, on=BROKERS)
def coordinators(ground: Ground, host: str) -> str:
    """FindCoordinator responses contain addresses, too."""

    def play(peer: Peer) -> None:
        for _ in peer.frames():
            said = FindCoordinatorResponse(error_code=0, node_id=3, host=host or "kafka-9.internal", port=9)
            peer.send(response_frame(said, 3, NUMBER))

    client = ground.client(ground.cluster(play))
    client.send(request_frame(FindCoordinatorRequest(key="open-g", key_type=0), 3, NUMBER, "hostile"))
    client.half_close()
    client.ends()
    assert b"internal" not in client.told, "a client was told where a broker really is"
    return f"{len(client.told)} bytes, then closed"


def _pointing(partitions: int) -> dict[str, bytes]:
    """Responses whose last tagged field holds the addresses of brokers (KIP-951)."""
    made = ProduceResponse.NodeEndpoint(node_id=3, host=REAL, port=9_092)
    produced = ProduceResponse.Topic.Partition(index=0, error_code=6, base_offset=-1)
    of_produce = ProduceResponse(
        responses=[ProduceResponse.Topic(name="orders", partition_responses=[produced] * partitions)],
        node_endpoints=[made],
    )
    read = FetchResponse.NodeEndpoint(node_id=3, host=REAL, port=9_092)
    fetched = FetchResponse.Topic.Partition(partition_index=0, error_code=6, high_watermark=0, records=b"")
    of_fetch = FetchResponse(
        responses=[FetchResponse.Topic(topic_id=topic_id("orders"), partitions=[fetched] * partitions)],
        node_endpoints=[read],
    )
    return {"Produce": response_frame(of_produce, 10, NUMBER), "Fetch": response_frame(of_fetch, 16, NUMBER)}


POINTED = {"Produce": produce(["orders"], NUMBER, version=10), "Fetch": by_id(["orders"], NUMBER)}


@cases({f"addresses behind {size} of {what}": (size, what) for size in (1, 10_000) for what in POINTED}, on=BROKERS)
def endpoints(ground: Ground, which: tuple[int, str]) -> str:
    """No address of a broker passes, even where a response is too large to be buffered."""
    size, what = which
    answer = _pointing(size)[what]
    client = ground.client(ground.cluster(lambda peer: [peer.send(answer) for _ in peer.frames()]))
    client.send(POINTED[what])
    client.half_close()
    client.ends()
    return f"{len(answer):,} bytes from the broker, {len(client.told):,} to the client"
