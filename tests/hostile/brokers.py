"""Hostile brokers: their responses name brokers with misleading host names, node ids and addresses."""

from __future__ import annotations

from contextlib import suppress

from proxy.protocol.api import METADATA
from proxy.protocol.codec import decode
from proxy.protocol.header import read_request_header, read_response_header, response_frame
from proxy.protocol.messages.metadata import MetadataResponse
from tests.hostile.answers import metadata as answer_of
from tests.hostile.canary import HOST, REAL
from tests.hostile.client import Client, connect, patiently
from tests.hostile.ground import BLOCK, Ground
from tests.hostile.requests import BEAT, beat, metadata
from tests.hostile.settings import BROKERS, STARTS
from tests.hostile.stage import NODE, Peer, Play
from tests.hostile.trial import case, cases

OTHER = 3
VERSION = 9
AWAY = "kafka-9.internal"


def tells(*told: tuple[int, str, int]) -> Play:
    """A broker that is honest, except that it adds these brokers to its responses."""

    def play(peer: Peer) -> None:
        peer.stage.told = {NODE: (REAL, peer.stage.port)} | {node: (host, port) for node, host, port in told}
        for frame in peer.frames():
            peer.send(peer.answer(frame))

    return play


def asked(ground: Ground, listener: str) -> dict[int, tuple[str, int]]:
    """The brokers in a client's Metadata response; none where its connection is closed instead."""
    client = ground.client(listener)
    client.send(metadata(["orders"]))
    try:
        frame = client.frame()
    except EOFError:
        return {}
    _, at = read_response_header(METADATA, VERSION, frame)
    return {each.node_id: (each.host, each.port) for each in decode(MetadataResponse, VERSION, frame[at:]).brokers}


def goes_to(ground: Ground, listener: str, node: int) -> str:
    """A client connects to the address of a broker: the connection must be closed, or the request answered, in time."""
    try:
        client = Client(connect(ground.port(listener, node)))
    except OSError:
        return "no port"
    ground.clients.append(client)
    client.send(beat())
    client.half_close()
    client.ends()
    return "answered" if client.told else "closed"


def _only_ours(told: dict[int, tuple[str, int]], *real: str) -> None:
    for node, (host, port) in told.items():
        assert host in (HOST, ""), f"broker {node} is said to be at {host[:50]!r}:{port}"
        assert not any(name and name == host for name in real)


HOSTS = {
    "of 100 accents": "é" * 100,
    "of 300 letters": "a" * 300,
    "of 32,000 letters": "a" * 32_000,
    "of one label with 64 letters": "a" * 64 + ".example",
    "of dots": "..",
    "of nothing": "",
    "with a NUL": "kafka\0.internal",
    "with a line break": 'kafka\n{"event": "listening"}',
    "with a bidirectional mark": "kafka\u202e.internal",
    "that is no IPv4 address": "256.256.256.256",
    "that is a number": "0x7f000001",
    "with brackets": "[::1]",
    "with a scope": "fe80::1%nowhere",
    "that is every address": "0.0.0.0",
    "that is a broadcast": "255.255.255.255",
    "with a bad punycode": "xn--\u00e9.internal",
}


@cases({f"a host name {name}": host for name, host in HOSTS.items()}, on=BROKERS)
def hosts(ground: Ground, host: str) -> str:
    """No client reaches the broker, and there is no other effect."""
    listener = ground.cluster(tells((OTHER, host, 9)))
    told = asked(ground, listener)
    _only_ours(told, host)
    came = goes_to(ground, listener, OTHER)
    assert came != "answered", "somebody answered"
    return f"{len(told)} brokers told, {came}"


NODES = {"-1": -1, "-2": -2, "-2^31": -(2**31), "70,000": 70_000, "2^31-1": 2**31 - 1, "60,000": 60_000}


@cases({f"node id {name}": node for name, node in NODES.items()}, on=BROKERS)
def nodes(ground: Ground, node: int) -> str:
    """A broker that can have no port of the proxy: no client sees its real address."""
    listener = ground.cluster(tells((node, AWAY, 9)))
    told = asked(ground, listener)
    _only_ours(told, AWAY)
    return f"{len(told)} brokers told"


@cases({f"port {port}": port for port in (0, -1, 65_536, 2**31 - 1)}, on=BROKERS)
def ports(ground: Ground, port: int) -> str:
    listener = ground.cluster(tells((OTHER, REAL, port)))
    told = asked(ground, listener)
    _only_ours(told)
    return f"{len(told)} brokers told, {goes_to(ground, listener, OTHER)}"


@case("new node ids with each answer, without end", on=BROKERS, descriptors=1_100, log=100)
def endless(ground: Ground) -> str:
    """The node ids get ports up to a limit; memory and log do not grow with them."""

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            first = BLOCK + peer.stage.came * 100_000 + 100 * len(seen)
            seen.append(first)
            peer.stage.told = {NODE: (REAL, peer.stage.port)} | {first + n: (AWAY, 9) for n in range(100)}
            peer.send(peer.answer(frame))

    seen: list[int] = []
    listener = ground.cluster(play)
    client = ground.client(listener)
    rounds = ground.times(20, 300)
    for number in range(rounds):
        client.send(metadata(["orders"], number))
        with suppress(EOFError):
            client.frame()
    return f"{100 * rounds:,} node ids"


@cases(
    {"100,000 brokers in each answer": (100_000, False), "one broker 100,000 times in each answer": (100_000, True)},
    on=BROKERS,
    descriptors=1_100,
)
def crowds(ground: Ground, said: tuple[int, bool]) -> str:
    """Also to the proxy itself, which discovers: nobody waits for it to read them."""
    count, alike = said

    def play(peer: Peer) -> None:
        ours = MetadataResponse.Broker(node_id=NODE, host=REAL, port=peer.stage.port)
        first = 2 * BLOCK
        others = [MetadataResponse.Broker(node_id=first + n * (not alike), host=AWAY, port=9) for n in range(count)]
        for frame in peer.frames():
            header, _ = read_request_header(frame)
            if header.request_api_key == METADATA.key:
                told = MetadataResponse(brokers=[ours, *others], topics=[], controller_id=NODE)
                peer.send(response_frame(told, header.request_api_version, header.correlation_id))
            else:
                peer.send(peer.answer(frame))

    listener = ground.cluster(play)
    ground.stage.hang_up()
    before = ground.stage.came
    _only_ours(asked(ground, listener), AWAY)
    for _ in patiently("it is discovered again", 20):
        if ground.stage.came >= before + 3:  # the client's, and two to find out what the broker speaks and knows
            break
        goes_to(ground, listener, NODE)
    return f"{count:,} brokers"


@case("a broker that moves with each answer", on=BROKERS)
def restless(ground: Ground) -> str:
    def play(peer: Peer) -> None:
        for n, frame in enumerate(peer.frames()):
            peer.stage.told = {NODE: (REAL, peer.stage.port), OTHER: (AWAY, n % 60_000 + 1)}
            peer.send(peer.answer(frame))

    listener = ground.cluster(play)
    client = ground.client(listener)
    rounds = ground.times(500, 10_000)
    for number in range(rounds):
        client.send(metadata(["orders"], number))
        client.frame()
    return f"{rounds} moves"


ALIASES = ("127.0.0.1", "localhost", "127.1", "0.0.0.0", "127.0.0.2", "::ffff:127.0.0.1", "2130706433", "LOCALHOST.")


@cases({f"a broker at the proxy's own port, as {alias}": alias for alias in ALIASES}, on=BROKERS)
def circle(ground: Ground, alias: str) -> str:
    """The proxy closes a client of such a broker, and does not connect to itself without end."""
    listener = ground.unused[0][0]
    ground.cluster(tells((OTHER, alias, ground.port(listener, OTHER))))
    told = asked(ground, listener)
    return f"{len(told)} brokers told, {goes_to(ground, listener, OTHER)}"


@case("two brokers, each at the other's port of the proxy", on=BROKERS)
def ring(ground: Ground) -> str:
    """Two clusters of one proxy; two proxies would behave the same."""
    one, two = ground.unused[0][0], ground.unused[1][0]
    ground.cluster(tells((OTHER, HOST, ground.port(two, OTHER))))
    asked(ground, one)
    ground.cluster(tells((OTHER, HOST, ground.port(one, OTHER))))
    asked(ground, two)
    return goes_to(ground, one, OTHER)


@case("a bootstrap port of the proxy as a broker", on=BROKERS)
def bootstrap_circle(ground: Ground) -> str:
    listener = ground.unused[0][0]
    ground.cluster(tells((OTHER, HOST, ground.port(listener, None))))
    asked(ground, listener)
    return goes_to(ground, listener, OTHER)


@case("a topic whose leader is nobody that was told of", on=BROKERS)
def strange_leader(ground: Ground) -> str:
    def play(peer: Peer) -> None:
        for _ in peer.frames():
            peer.send(response_frame(answer_of({OTHER + 70_000: (AWAY, 9)}), VERSION, 1))

    listener = ground.cluster(play)
    told = asked(ground, listener)
    _only_ours(told, AWAY)
    return f"{len(told)} brokers told"


@case("brokers that lie from the first word on", on=STARTS)
def starts(ground: Ground) -> str:
    """Each lying broker has a cluster of its own; clients of the honest cluster are served."""
    with ground.client(node=1) as client:
        client.ask(BEAT, 4)
    return f"{len(ground.unused)} clusters"
