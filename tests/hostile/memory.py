"""Memory: frames that do not end, responses that no client reads, and everything that the proxy might keep."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from string import ascii_lowercase

from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.list_offsets import ListOffsetsRequest
from tests.hostile.answers import Told, topic
from tests.hostile.answers import metadata as told_metadata
from tests.hostile.client import Client, connect, settled
from tests.hostile.ground import Ground
from tests.hostile.logins import handshake, token
from tests.hostile.requests import beat, fetch, metadata, produce
from tests.hostile.settings import AUDITED, OPEN, RULED, SASL, TWO
from tests.hostile.stage import NODE, Peer, Play, brief, opening, silent
from tests.hostile.trial import case, cases

MIB = 1 << 20
SLOWEST = 30.0  # seconds for large responses: the proxy handles them one after the other
PEAK = 220  # MiB, for all connections together


def _half(frame: bytes, size: int) -> bytes:
    """The first half of a frame of this size, with the beginning of `frame`."""
    return (SIZE.pack(size) + frame[SIZE.size :]).ljust(size // 2, b"x")


WANTED = metadata(["open-topic"])
PASSING = produce(["orders"], size=1_000)
BEGUN = {"that rules ask to see": WANTED, "of Produce": PASSING}


@cases({f"20 half frames {name}": frame for name, frame in BEGUN.items()}, on=RULED, peak=PEAK)
def half_frames(ground: Ground, frame: bytes) -> str:
    """Each client sends half of a frame of 100 MiB (30 in the short form), and never the rest."""
    size = ground.times(30, 100) * MIB
    many = [ground.client() for _ in range(20 if not ground.long else 16)]
    taken = sum(client.push(_half(frame, size), 0.3) for client in many)
    return f"{taken >> 20} MiB were taken"


@case("20 half frames that nobody asks to see", on=OPEN, peak=40)
@case("20 half frames that nobody asks to see", on=TWO, peak=40)
def passing_halves(ground: Ground) -> str:
    many = [ground.client() for _ in range(20)]
    taken = sum(client.push(_half(PASSING, 20 * MIB), 0.3) for client in many)
    return f"{taken >> 20} MiB were taken"


@cases(
    {f"40 half frames {name}, one after the other, each reset": frame for name, frame in BEGUN.items()},
    on=RULED,
    peak=80,
)
def one_by_one(ground: Ground, frame: bytes) -> str:
    """The memory of one half frame is free for the next."""
    taken, size = 0, ground.times(20, 40) * MIB
    for _ in range(40):
        client = Client(connect(ground.port()))
        taken += client.push(_half(frame, size), 0.3)
        client.reset()
    return f"{taken >> 20} MiB were taken"


@case("40 whole frames of 5 MiB, one after the other", on=RULED, peak=PEAK)
def whole_frames(ground: Ground) -> str:
    """A Metadata request for one topic, filled up to 5 MiB with meaningless bytes."""
    frame = SIZE.pack(5 * MIB) + WANTED[SIZE.size :].ljust(5 * MIB, b"x")
    ground.stage.play = brief
    client = ground.client()
    for _ in range(40):
        client.send(frame)
        client.frame()
    return "40 answers"


@cases(
    {f"requests under way that are refused in part: {count} short names in each": count for count in (30, 100, 600)},
    on=RULED,
    peak=2 * PEAK,
)
def under_way(ground: Ground, count: int) -> str:
    """The proxy keeps refusals until the broker answers the rest of a request; it never does."""
    names = ["orders", *("".join(letters) for letters in islice(product(ascii_lowercase, repeat=3), count))]
    topics = [ListOffsetsRequest.Topic(name=name, partitions=[]) for name in names]
    topics[0].partitions = [ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)]
    asked = request_frame(ListOffsetsRequest(replica_id=-1, topics=topics), 6, 1, "hostile")
    ground.stage.play = silent
    clients = [ground.client() for _ in range(ground.times(2, 10))]
    taken = sum(client.push(asked * (540_000 // count), ground.times(5, 10)) for client in clients)
    return f"{taken >> 10} KiB of requests were taken"


def _large(topics: int, partitions: int, told: Told) -> Play:
    several = [topic(f"open-{n}", NODE, partitions) for n in range(topics)]
    answer = response_frame(told_metadata(told, several), 9, 1)

    def play(peer: Peer) -> None:
        for _ in peer.frames():
            peer.send(answer)

    return play


@cases(
    {f"large answers that {who}": read for who, read in (("are read", True), ("nobody reads", False))},
    on=RULED,
    peak=PEAK,
)
def answers(ground: Ground, read: bool) -> str:
    """Metadata with many topics and many partitions: the proxy must buffer each response to filter it."""
    ground.stage.play = _large(ground.times(300, 1_000), 100, ground.stage.told)
    many = [ground.client() if read else ground.client(receive=4096) for _ in range(8)]
    for client in many:
        client.send(metadata(None))
    if read:
        for client in many:
            client.sock.settimeout(SLOWEST)
        size = sum(len(client.frame()) for client in many)
        return f"{len(many)} answers, {size >> 10} KiB"
    sent = settled(lambda: ground.stage.sent)
    return f"{len(many)} answers, {sent >> 10} KiB were taken"


@case("answers that never end", on=RULED, peak=PEAK)
def half_answers(ground: Ground) -> str:
    """A broker sends half of each announced frame, to twenty clients."""

    def play(peer: Peer) -> None:
        for frame in peer.frames():
            size = 20 * MIB
            peer.send(SIZE.pack(size) + frame[4:8] + bytes(size // 2))
            peer.wait()

    ground.stage.play = play
    many = [ground.client() for _ in range(20)]
    for client in many:
        client.send(metadata(None))
    sent = settled(lambda: ground.stage.sent)
    return f"{sent >> 20} MiB were taken"


@case("200 half tokens of 500 KiB", on=SASL, peak=PEAK)
def half_tokens(ground: Ground) -> str:
    many = [ground.client() for _ in range(200)]
    frame = token(b"x" * (500 << 10))
    for client in many:
        client.send(handshake())
        client.push(frame[: len(frame) // 2], 0.2)
    return f"{len(many)} clients"


@case("a token of 50 MiB", on=SASL, peak=40)
def large_token(ground: Ground) -> str:
    """Before authentication a frame may have 512 KiB."""
    client = ground.client()
    client.send(handshake())
    client.send(token(b"x" * (50 * MIB)))
    client.ends()
    return "closed"


@case("requests behind a token, before it is judged", on=SASL, peak=60)
def behind_tokens(ground: Ground) -> str:
    """The requests wait for authentication, but most of their bytes are not in the proxy's memory."""
    many = [ground.client() for _ in range(20)]
    said = handshake() + token(b"\0alice\0wrong") + produce(["orders"], size=10 * MIB)
    taken = sum(client.push(said, 0.2) for client in many)
    assert b"orders" not in ground.stage.heard, "a request passed before authentication"
    return f"{taken >> 20} MiB were taken"


@case("100,000 topics, each known by a name and an id", on=RULED)
def names_and_ids(ground: Ground) -> str:
    """The proxy caches topic names by id, up to a limit."""
    asked = ground.times(20, 100)
    client = ground.client()
    for number in range(asked):
        frame = metadata([f"open-{number}-{n}" for n in range(1_000)], number, 12)
        client.send(frame)
        client.frame()
    return f"{asked * 1_000:,} topics"


@case("decisions about 100,000 names on one connection", on=RULED)
def decisions(ground: Ground) -> str:
    ground.stage.play = brief
    asked = ground.times(50, 500)
    client = ground.client()
    for number in range(asked):
        client.send(metadata([f"open-{number}-{n}-{'x' * 100}" for n in range(1_000)], number))
        client.frame()
    return f"{asked * 1_000:,} names"


@case("denied names of 30,000 bytes", on=RULED)
def long_names(ground: Ground) -> str:
    """The names of refused resources that the proxy keeps for its log are bounded in bytes, too."""
    asked = ground.times(2_000, 10_000)
    client = ground.client()
    for number in range(asked):
        client.send(metadata([f"secret-{number:06}".ljust(30_000, "x")], number))
        client.frame()
    return f"{asked:,} names"


# Python takes 4 bytes for each letter of a text that has such a sign.
CLIENT_IDS = {"of 30,000 bytes": "x", "of 30,000 bytes, one of them a face": "\U0001f600"}


@cases({f"client ids {what}": sign for what, sign in CLIENT_IDS.items()}, on=OPEN)
@cases({f"client ids {what}": sign for what, sign in CLIENT_IDS.items()}, on=AUDITED)
def long_client_ids(ground: Ground, sign: str) -> str:
    many = ground.times(200, 350)
    for number in range(many):
        client = ground.client()
        client.send(metadata([], client_id=f"{number:06}{sign}".ljust(30_000, "x")))
        client.frame()
    return f"{many} clients"


def _fetched(client: Client, frame: bytes) -> FetchResponse:
    """The answer to this Fetch."""
    client.sock.settimeout(SLOWEST)
    client.send(frame)
    return decode(FetchResponse, 11, client.frame()[4:])


def _opened(client: Client, topics: int, number: int) -> int:
    """The id of a new session with so many topics."""
    session_id = _fetched(client, fetch([f"open-{number}-{n}" for n in range(topics)], epoch=0)).session_id
    assert session_id, "no session was opened"
    return session_id


def _goes_on(client: Client, session_id: int, epoch: int = 1, names: Sequence[str] = ()) -> bool:
    """Whether the session with this id goes on with a request for these topics."""
    answer = _fetched(client, fetch([*names], session=session_id, epoch=epoch))
    assert answer.error_code in (ErrorCode.NONE, ErrorCode.FETCH_SESSION_ID_NOT_FOUND), answer.error_code
    return not answer.error_code


@case("fetch sessions with 2,000 topics on each of 80 connections", on=RULED, peak=PEAK)
def sessions(ground: Ground) -> str:
    """The proxy frees the state of fetch sessions with their connections."""
    ground.stage.play = opening
    opened: list[tuple[Client, int]] = []
    for number in range(ground.times(20, 80)):
        client = ground.client()
        opened.append((client, _opened(client, 2_000, number)))
    assert all(_goes_on(client, session_id) for client, session_id in opened)
    return f"{len(opened)} sessions"


@case("sessions begun again and again on one connection", on=RULED)
def many_sessions(ground: Ground) -> str:
    """Only the newest ones are known."""
    ground.stage.play = opening
    client, asked = ground.client(), ground.times(100, 2_000)
    opened = [_opened(client, 500, number) for number in range(asked)]
    assert _goes_on(client, opened[-1])
    assert not _goes_on(client, opened[0])
    return f"{asked} sessions"


@case("a session that grows by thousands of refused topics, again and again", on=RULED, peak=PEAK)
def growing_session(ground: Ground) -> str:
    """Each request is small enough; a session that has too much ends, and its client can begin a new one."""
    ground.stage.play = opening
    client, each = ground.client(), ground.times(15_000, 30_000)
    session_id = _opened(client, 1, 0)
    grown = 0
    while _goes_on(client, session_id, grown + 1, [f"secret-{grown}-{n}" for n in range(each)]):
        grown += 1
        assert grown < 5, f"a session has {grown * each:,} topics"
    assert _goes_on(client, _opened(client, 1, 1))
    return f"it ended with {grown * each:,} topics"


@case("small requests in a session of very many refused topics", on=RULED, peak=PEAK)
def small_requests(ground: Ground) -> str:
    ground.stage.play = opening
    client, topics, many = ground.client(), 19_000, ground.times(10, 20)
    session_id = _opened(client, 1, 0)
    assert _goes_on(client, session_id, 1, [f"secret-{n}" for n in range(topics)])
    assert all(_goes_on(client, session_id, 2 + n) for n in range(many))
    return f"{many} requests, each for {topics:,} topics"


@case("large requests, and a reset in the middle of each", on=TWO, peak=40)
def resets(ground: Ground) -> str:
    taken = 0
    for _ in range(ground.times(40, 200)):
        client = Client(connect(ground.port()))
        taken += client.push(_half(PASSING, 8 * MIB), 0.2)
        client.send(beat())
        client.reset()
    return f"{taken >> 20} MiB were taken"
