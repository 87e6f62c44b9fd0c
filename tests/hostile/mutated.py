"""Mutated frames: valid requests and answers with a few bytes changed, cut, repeated, left out or put in."""

from __future__ import annotations

import random

from proxy.protocol.header import request_frame
from proxy.protocol.schema import Request
from tests.hostile.client import Client, connect, patiently
from tests.hostile.ground import Ground
from tests.hostile.logins import handshake, token
from tests.hostile.requests import CLIENT_APIS, any_request, beat, fetch, metadata, names, produce, resized
from tests.hostile.settings import OPEN, RULED, SASL, TWO
from tests.hostile.stage import Peer, honest
from tests.hostile.trial import case, cases
from tests.proxy.protocol.test_mutations import mutated

SEED = 5


def _valid(dice: random.Random) -> bytes:
    api = dice.choice(CLIENT_APIS)
    version = dice.choice(list(api.versions))
    request: Request = any_request(api, version, dice)
    return request_frame(request, version, 1, "hostile")


def _told(ground: Ground, frames: list[bytes], listener: str = "clients") -> str:
    """Send each frame on its own connection, which must end."""
    answered = 0
    for frame in frames:
        with Client(connect(ground.port(listener))) as client:
            client.send(frame)
            client.half_close()
            answered += bool(client.ends().told)
    return f"{len(frames)} frames, {answered} of them answered"


def _many(ground: Ground, short: int = 150) -> range:
    return range(ground.times(short, 20 * short))


@case("requests of all APIs, their size as it is", on=RULED)
@case("requests of all APIs, their size as it is", on=TWO)
def requests(ground: Ground) -> str:
    dice = random.Random(SEED)
    return _told(ground, [resized(mutated(_valid(dice), dice)) for _ in _many(ground)])


@case("requests of all APIs, their size mutated too", on=OPEN)
@case("requests of all APIs, their size mutated too", on=RULED)
def sizes(ground: Ground) -> str:
    dice = random.Random(SEED + 1)
    return _told(ground, [mutated(_valid(dice), dice) for _ in _many(ground)])


@case("valid requests of all APIs, with odd values", on=RULED)
def odd(ground: Ground) -> str:
    dice = random.Random(SEED + 2)
    return _told(ground, [_valid(dice) for _ in _many(ground)])


@cases(
    {
        "Produce about a denied topic": produce(["orders", "secrets"]),
        "Fetch about a denied topic": fetch(["orders", "secrets"]),
        "Metadata about a denied topic": metadata(["orders", "secrets"]),
    },
    on=RULED,
)
def denied(ground: Ground, frame: bytes) -> str:
    """A mutated request about a denied topic may reach the broker only where it no longer names that topic."""
    dice = random.Random(SEED + 3)
    seen = _told(ground, [resized(mutated(frame, dice)) for _ in _many(ground)])
    for asked in ground.stage.asked:
        assert b"secrets" not in asked or "secrets" not in names(asked), f"what is denied reached the broker: {asked!r}"
    return seen


@case("tokens and handshakes of SASL", on=SASL)
def logins(ground: Ground) -> str:
    """No request passes before authentication, however tokens are mutated."""
    dice = random.Random(SEED + 4)
    both = [handshake() + token(b"\0nobody\0wrong"), handshake("SCRAM-SHA-256") + token(b"n,,n=alice,r=abc")]
    answered = 0
    clients = [ground.client() for _ in range(ground.times(60, 300))]
    for client in clients:
        client.send(mutated(dice.choice(both), dice) + beat())
        client.half_close()
    for client in clients:
        answered += bool(client.ends().told)
    assert b"open-g" not in ground.stage.heard, "a request passed before authentication"
    return f"{len(clients)} clients, {answered} of them answered"


@case("answers of a broker, their size as it is", on=OPEN)
@case("answers of a broker, their size as it is", on=RULED)
def answers(ground: Ground) -> str:
    """A response that cannot be decoded does not reach the client, and other clients are not affected."""
    dice = random.Random(SEED + 5)

    def lies(peer: Peer) -> None:
        for frame in peer.frames():
            peer.send(resized(mutated(peer.answer(frame), dice)))

    ground.stage.play = lies
    asked = [metadata(["orders"]), fetch(["orders"]), produce(["orders"]), beat()]
    ended = 0
    for _ in _many(ground):
        with Client(connect(ground.port())) as client:
            client.send(dice.choice(asked))
            client.half_close()
            client.ends()
            ended += 1
    ground.stage.play = honest
    for _ in patiently("the broker is found where it really is"):  # a mutated response may have moved it
        with Client(connect(ground.port())) as client:
            if client.ask_quietly(beat()):
                break
    return f"{ended} answers"


@case("any bytes at all", on=OPEN)
@case("any bytes at all", on=RULED)
def noise(ground: Ground) -> str:
    dice = random.Random(SEED + 6)
    return _told(ground, [resized(dice.randbytes(dice.randint(8, 400))) for _ in _many(ground)])
