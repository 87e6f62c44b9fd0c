"""Floods: more connections, requests, handshakes and mistakes than any honest client makes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

from proxy.protocol.header import request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from proxy.protocol.messages.produce import ProduceRequest
from tests.hostile.client import Client, connect, patiently, settled
from tests.hostile.ground import LIMITS, Ground
from tests.hostile.logins import PASSWORDS, plain
from tests.hostile.requests import BEAT, CLIENT_APIS, any_request, beat, fetch, metadata, produce
from tests.hostile.settings import AUDITED, OPEN, RULED, SESSIONS, TLS, TWO
from tests.hostile.stage import Peer, brief, silent
from tests.hostile.trial import case, cases

MOST = int(str(LIMITS["connections"]))
SLOWEST = 60.0  # seconds that what is sent in one go may take on a busy machine


@cases({"connections to a broker": 2, "connections to the bootstrap port": None}, on=OPEN, crowded=True)
def connections(ground: Ground, node: int | None) -> str:
    """Connections over the limit are closed; when some clients leave, others may connect."""
    clients = [ground.client(node=node) for _ in range(MOST + 100)]
    for client in clients:
        client.send(beat())
    refused = sum(not client.receive() for client in clients)
    assert refused >= 100, f"only {refused} were refused"
    ground.leave()
    _another_is_served(ground)
    return f"{refused} of {len(clients)} refused, nobody afterwards"


def _another_is_served(ground: Ground) -> None:
    """Wait for that. All connections before it were accepted then."""
    for _ in patiently("somebody else may come"):
        with Client(connect(ground.port())) as client:
            client.send(beat())
            if client.receive():
                break


@case("connections to two workers", on=TWO, crowded=True)
def connections_of_two(ground: Ground) -> str:
    clients = [ground.client() for _ in range(2 * MOST + 300)]
    for client in clients:
        client.send(beat())
    refused = sum(not client.receive() for client in clients)
    assert refused >= 100, f"only {refused} were refused"
    return f"{refused} of {len(clients)} refused"


def _come_and_go(ground: Ground, said: bytes, reset: bool, listener: str = "clients") -> str:
    times = ground.times(500, 5_000)
    for _ in range(times):
        client = Client(connect(ground.port(listener)))
        client.send(said)
        client.reset() if reset else client.close()
    return f"{times} times"


@cases(
    {
        "connect and close": (b"", False),
        "connect and reset": (b"", True),
        "ask and close": (beat(), False),
        "ask and reset": (beat(), True),
        "begin a request and reset": (beat()[:-2], True),
        "ask ten things and reset": (beat() * 10, True),
    },
    on=OPEN,
    crowded=True,
)
def storms(ground: Ground, how: tuple[bytes, bool]) -> str:
    """As fast as possible, one after the other: a client that left still counts until the dial to its broker ends."""
    seen = _come_and_go(ground, *how)
    _another_is_served(ground)
    return seen


@case("connect and reset, before two workers", on=TWO, crowded=True)
def storm_of_two(ground: Ground) -> str:
    return _come_and_go(ground, beat(), True)


@case("many clients that leave at the same moment", on=OPEN, crowded=True)
@case("many clients that leave at the same moment", on=AUDITED, crowded=True)
def leave_together(ground: Ground) -> str:
    clients = []
    for _ in range(MOST - 100):  # some connections of the case before may not be closed yet
        clients.append(client := ground.client())
        client.ask(BEAT, 4)
    for client in clients:
        client.reset()
    return f"{len(clients)} clients"


@cases(
    {
        "HTTP, again and again": b"GET / HTTP/1.1\r\n\r\n",
        "a frame of -1 bytes, again and again": b"\xff" * 12,
        "API 9999, again and again": b"\0\0\0\x08\x27\x0f" + bytes(6),
    },
    on=OPEN,
)
def mistakes(ground: Ground, said: bytes) -> str:
    """Each connection is closed, and the log does not grow with them."""
    times = ground.times(500, 5_000)
    for _ in range(times):
        with Client(connect(ground.port())) as client:
            client.send(said)
            client.ends()
    return f"{times} times: closed"


@case("a dead broker, again and again", on=OPEN)
def dead_broker(ground: Ground) -> str:
    ground.stage.die()
    for _ in range(ground.times(200, 2_000)):
        with Client(connect(ground.port())) as client:
            client.send(beat())
            client.ends()
    return "closed each time"


@case("a broker that closes at once, again and again", on=OPEN)
def broker_that_closes(ground: Ground) -> str:
    ground.stage.play = lambda peer: None
    for _ in range(ground.times(200, 2_000)):
        with Client(connect(ground.port())) as client:
            client.send(beat())
            client.ends()
    return "closed each time"


@case("a pipeline that is never answered", on=OPEN)
def pipeline(ground: Ground) -> str:
    """The proxy stops reading a client that has `in_flight` unanswered requests."""
    ground.stage.play = silent
    clients = [ground.client() for _ in range(5)]
    for client in clients:
        client.push(b"".join(map(beat, range(ground.times(50_000, 200_000)))), ground.times(1, 3))
    passed = settled(lambda: ground.stage.heard.count(b"open-g"), within=SLOWEST)
    assert passed <= 1_001 * len(clients), f"{passed} requests passed"
    return f"{passed} requests passed for {len(clients)} clients"


@cases(
    {"Heartbeat in a pipeline": beat, "Metadata in a pipeline": lambda number: metadata(None, number)},
    on=RULED,
    peak=60,
)
def answered_pipeline(ground: Ground, of: object) -> str:
    """One thread sends all requests while another reads the responses."""
    assert callable(of)
    asked = ground.times(5_000, 50_000)
    said = b"".join(map(of, range(asked)))  # before it connects: a client that sends nothing for a second is closed
    client = ground.client()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(client.send, said)
        for _ in range(asked):
            client.frame()
        assert sending.result()
    return f"{asked} answers"


@cases(
    {
        "Metadata in a pipeline, each about another denied topic": lambda n: metadata([f"secret-{n}"], n),
        "Produce in a pipeline, each about another denied topic": lambda n: produce([f"secret-{n}"], n),
        "Fetch in a pipeline, each about another denied topic": lambda n: fetch([f"secret-{n}"], n),
    },
    on=RULED,
    peak=60,
)
def denied(ground: Ground, of: object) -> str:
    """Each request is about another topic: the log does not grow with the number of names."""
    assert callable(of)
    asked = ground.times(3_000, 50_000)
    said = b"".join(map(of, range(asked)))
    client = ground.client()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(client.send, said)
        for _ in range(asked):
            client.frame()
    assert b"secret" not in ground.stage.heard, "a request that is denied reached the broker"
    return f"{asked} refusals"


@case("Produce without topics and without acknowledgement, from many", on=OPEN)
def unanswered(ground: Ground) -> str:
    """Nothing limits how many of these are in flight, since they have no answers."""
    came = _drained(ground)
    empty = request_frame(ProduceRequest(acks=0, timeout_ms=1, topic_data=[]), 0, 1, "")
    many = [ground.client() for _ in range(5)]
    said = empty * ground.times(50_000, 200_000)
    with ThreadPoolExecutor(len(many)) as pool:
        for sending in [pool.submit(client.send, said) for client in many]:
            assert sending.result()
    taken = settled(lambda: sum(said.count(empty) for said in came), within=SLOWEST)
    sent = len(many) * len(said) // len(empty)
    assert taken == sent, f"{taken} of {sent} requests came to the broker"
    return f"{sent} requests of {len(empty)} bytes from {len(many)} clients"


@case("999 small requests of each of many, at the same moment", on=OPEN)
def at_once(ground: Ground) -> str:
    """The frames pass, and each client has fewer in flight than the limit."""
    came = _drained(ground)
    many = [ground.client() for _ in range(ground.times(100, 300))]
    said = b"".join(map(beat, range(999)))
    for client in many:
        client.send(said)
    taken = settled(lambda: sum(said.count(b"open-g") for said in came), within=SLOWEST)
    assert taken == 999 * len(many), f"{taken} of {999 * len(many)} requests came to the broker"
    return f"{len(many)} clients, {len(said):,} bytes each"


def _drained(ground: Ground) -> list[bytearray]:
    """What came on each connection to the broker, which answers nothing. The proxy's own questions come too."""
    came: list[bytearray] = []

    def drain(peer: Peer) -> None:
        came.append(heard := bytearray())
        while said := peer.sock.recv(1 << 20):
            heard += said

    ground.stage.play = drain
    return came


@case("each API in a pipeline of its own, and nobody reads the answers", on=RULED, peak=120)
def pipelines(ground: Ground) -> str:
    """All requests are valid, with odd values. The broker gives blank responses, or the proxy refuses."""
    ground.stage.play, dice, taken = brief, Random(11), 0
    for api in CLIENT_APIS:
        requests = [any_request(api, api.newest, dice) for _ in range(20)]
        frames = [request_frame(request, api.newest, number, "hostile") for number, request in enumerate(requests)]
        client = ground.client(receive=4096)
        taken += client.push(b"".join(frames) * ground.times(50, 500), ground.times(1, 5) / 10)
        client.reset()
    return f"{len(CLIENT_APIS)} APIs, {taken >> 10} KiB of requests were taken"


@case("connections that ask for versions and never for anything else", on=RULED, peak=60)
def versions(ground: Ground) -> str:
    """Each client gets its responses and then stays idle; the proxy keeps little memory for it."""
    ask = request_frame(ApiVersionsRequest(client_software_name="x" * 200, client_software_version="1"), 3, 1, "h")
    many = [ground.client() for _ in range(ground.times(100, 300))]
    for client in many:
        client.send(ask * 20)
    for client in many:
        for _ in range(20):
            client.frame()
    return f"{20 * len(many)} answers"


@case("large requests of many, beside a small one that is answered at once", on=RULED, peak=200)
def line(ground: Ground) -> str:
    """Large requests wait for each other, and all are answered in the end; small requests do not wait for them."""
    ground.stage.play = brief
    frame = metadata([f"open-{number:06}" for number in range(ground.times(5_000, 15_000))])
    many = [ground.client() for _ in range(20)]
    with ThreadPoolExecutor(len(many)) as pool:
        for sending in [pool.submit(client.send, frame) for client in many]:
            assert sending.result()
    small, answered = ground.client(), 0
    for number in range(100):
        small.send(metadata(["open-1"], number))
        small.frame()
    waiting = [client for client in many if client.silent(0.001)]
    for client in many:
        client.sock.settimeout(60)
        answered += bool(client.told or client.frame())
    return f"{answered} answers; {len(waiting)} of them came after 100 small ones"


@case("a client id that changes with each denied request", on=RULED)
def client_ids(ground: Ground) -> str:
    asked = ground.times(2_000, 20_000)
    said = b"".join(metadata(["secrets"], n, client_id=f"{n}" * 50) for n in range(asked))
    client = ground.client()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(client.send, said)
        for _ in range(asked):
            client.frame()
    return f"{asked} refusals"


def _logs_in(ground: Ground, word: str) -> bool:
    with Client(connect(ground.port())) as client:
        return plain(client, "alice", word)


@cases({"wrong passwords": "wrong", "right passwords": PASSWORDS["alice"]}, on=SESSIONS)
def logins(ground: Ground, word: str) -> str:
    """Many clients at once. Failed logins are delayed more and more, and no other login is."""
    many = ground.times(40, 200)
    with ThreadPoolExecutor(many) as pool:
        came = sum(pool.map(lambda _: _logs_in(ground, word), range(many)))
    assert came == (many if word == PASSWORDS["alice"] else 0), f"{came} of {many} came in"
    return f"{came} of {many} came in"


@case("handshakes that never end", on=TLS, crowded=True)
def handshakes(ground: Ground) -> str:
    """Connections over the limit `handshakes` are closed at once, the others by the time limit of a handshake."""
    clients = [ground.client() for _ in range(150)]
    for client in clients:
        client.send(b"\x16\x03\x01\x02\0\x01")
    for client in clients:
        client.ends()
    return f"{len(clients)} closed"


@case("handshakes that are broken off", on=TLS, crowded=True)
def broken_handshakes(ground: Ground) -> str:
    return _come_and_go(ground, b"\x16\x03\x01\x02\0\x01", True)


@case("answers to clients that have left", on=OPEN)
def answers_to_nobody(ground: Ground) -> str:
    def late(peer: Peer) -> None:
        for frame in peer.frames():
            peer.stage.may_speak.wait(5)
            peer.send(peer.answer(frame))

    ground.stage.play = late
    clients = [ground.client() for _ in range(ground.times(50, 200))]
    for client in clients:
        client.send(beat())
    for _ in patiently("all requests are at the broker"):
        if ground.stage.heard.count(b"open-g") >= len(clients):
            break
    ground.leave()
    ground.stage.may_speak.set()
    return f"{len(clients)} clients left"


@case("requests one after the other, as fast as answers come", on=OPEN)
def busy(ground: Ground) -> str:
    clients = [ground.client() for _ in range(10)]
    rounds = ground.times(50, 1_000)
    for number in range(rounds):
        for client in clients:
            client.send(beat(number))
        for client in clients:
            client.answer(BEAT, 4, number)
    return f"{rounds * len(clients)} answers"
