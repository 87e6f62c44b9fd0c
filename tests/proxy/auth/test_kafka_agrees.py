"""Passwords that the proxy verifies: it accepts nobody whom Kafka's own servers refuse, or take for somebody else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proxy.auth.passwords import PlainExchange, ScramExchange
from proxy.auth.verifiers import verifiers
from proxy.core.sasl.authority import Accepted, Challenge, Exchange
from proxy.core.sasl.scram import PROOF
from tests.proxy.auth.issuer import Issuer
from tests.proxy.auth.stepping import step
from tests.proxy.core.sasl.oracle import PASSWORD, Servers, mutated
from tests.proxy.core.sasl.test_kafka_passwords import NAMES, USERS, said_first, said_plain
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError

KNOWN = {user: verifiers(PASSWORD, 4_096) for user in USERS}
COUNTS = [500, pytest.param(20_000, marks=pytest.mark.long)]
Answer = Callable[[bytes], bytes]  # a server's


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Kafka("kafka-4.3.1") as kafka:
        servers = Servers(kafka, Issuer(), tmp_path_factory.mktemp("oracle"))
        for mechanism in ("PLAIN", *PROOF):
            for user in USERS:
                servers.know(mechanism, user)
        yield servers


def final(mechanism: str, first: bytes, challenge: bytes, change: random.Random) -> bytes:
    """The final message of a client that knows the password, sometimes mutated."""
    name = "sha256" if mechanism.endswith("256") else "sha512"
    parts = dict(part.split(b"=", 1) for part in challenge.split(b","))
    salted = hashlib.pbkdf2_hmac(name, PASSWORD.encode(), base64.b64decode(parts[b"s"]), int(parts[b"i"]))
    header = first[: first.index(b",", 2) + 1]
    without = b"c=%b,r=%b" % (base64.b64encode(header), parts[b"r"])
    key = hmac.digest(salted, b"Client Key", name)
    signature = hmac.digest(
        hashlib.new(name, key).digest(), b",".join((first[len(header) :], challenge, without)), name
    )
    proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
    said = whole = without + b",p=" + base64.b64encode(proof)
    is_changed = change.random() < 0.25  # for the proxy and for Kafka alike, though nonces differ
    while is_changed and said == whole:
        said = mutated(change, whole, b"cnrp=,abz0+/ \x01")
    return said


def theirs(server: Any, mechanism: str, first: bytes, seed: int) -> str | None:
    """As whom Kafka's server takes the client; None where it refuses."""
    try:
        answer = bytes(server.evaluateResponse(first))
        if mechanism != "PLAIN":
            server.evaluateResponse(final(mechanism, first, answer, random.Random(seed)))
    except KafkaRefusedError:
        return None
    return str(server.getAuthorizationID()) if server.isComplete() else None


def ours(exchange: Exchange, mechanism: str, first: bytes, seed: int) -> str | None:
    """As whom the proxy takes the client; None where it refuses."""
    outcome = step(exchange, first)
    if isinstance(outcome, Challenge):
        outcome = step(exchange, final(mechanism, first, outcome.token, random.Random(seed)))
    return outcome.user if isinstance(outcome, Accepted) else None


def is_for_kafka(user: str, first: bytes) -> bool:
    """Kafka's SCRAM has no names beyond ASCII, and compares an authorization id with its escapes to a name without."""
    authorization = first.split(b",")[1][2:]
    return user.isascii() and b"=" not in authorization


@pytest.mark.parametrize("mechanism", ["PLAIN", *PROOF])
@pytest.mark.parametrize("count", COUNTS)
def test_who_comes_in_comes_in_at_kafka_under_the_same_name(servers: Servers, mechanism: str, count: int) -> None:
    dice, met = random.Random(13), Counter[str]()
    for seed in range(count):
        first = said_plain(dice) if mechanism == "PLAIN" else said_first(dice)
        if dice.random() < 0.1:
            first = mutated(dice, first, NAMES)
        exchange: Exchange = (
            PlainExchange(lambda: KNOWN) if mechanism == "PLAIN" else ScramExchange(lambda: KNOWN, mechanism, False)
        )
        user = ours(exchange, mechanism, first, seed)
        if user is None:
            met["refused"] += 1
            continue
        if mechanism != "PLAIN" and not is_for_kafka(user, first):
            met["not for Kafka"] += 1
            continue
        assert user == theirs(servers.server(mechanism), mechanism, first, seed), first
        met["the same name"] += 1
    assert min(met["the same name"], met["refused"]) > count / 10, met
