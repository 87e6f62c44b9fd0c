"""Names sent with a password: Kafka's own servers give a client the same name as the proxy, or refuse it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from proxy.core.sasl import scram
from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.observed import ObservedExchange
from proxy.core.sasl.plain import plain
from tests.proxy.auth.issuer import Issuer
from tests.proxy.core.sasl.oracle import PASSWORD, Servers, mutated, talk
from tests.proxy.protocol.oracles.kafka import Kafka

COUNTS = [2_000, pytest.param(100_000, marks=pytest.mark.long)]
USERS = ["alice", "bob", "admin", "a,b", "a=b", "=2C", "al", "id7", "zoë", "Alice", "secret"]
ODD_USERS = ["", " alice", "alice ", "ali\tce", "ali\x7fce", "ali\ufffdce"]
NAMES = b"alicebobadmin,=2C3D \0\xc3\xab\xff\x01\n"


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Kafka("kafka-4.3.1") as kafka:
        servers = Servers(kafka, Issuer(), tmp_path_factory.mktemp("oracle"))
        for mechanism in ("PLAIN", *scram.PROOF):
            for user in (*USERS, *ODD_USERS[1:]):
                servers.know(mechanism, user)
        yield servers


def said_plain(dice: random.Random) -> bytes:
    user = dice.choice(USERS * 4 + ODD_USERS)
    authorization = dice.choice(["", "", user, dice.choice(USERS)])
    return mutated(dice, "\0".join((authorization, user, PASSWORD)).encode(), NAMES)


@pytest.mark.parametrize("count", COUNTS)
def test_plain_is_read_as_kafka_reads_it(servers: Servers, count: int) -> None:
    dice, met = random.Random(11), Counter[str]()
    for _ in range(count):
        token = said_plain(dice)
        with suppress(ClaimError):
            servers.know("PLAIN", plain(token).user)
        talk(servers.server("PLAIN"), ObservedExchange("PLAIN"), [token], met)
    print(f"\nPLAIN: {dict(met)}")
    assert met["the same name"] > count / 10
    assert met["refused here, and Kafka takes it"] > 0


def escaped(user: str) -> str:
    return user.replace("=", "=3D").replace(",", "=2C")


def said_first(dice: random.Random) -> bytes:
    if dice.random() < 0.03:
        return b"n,,n=id7,r=abc,tokenauth=true"
    user = dice.choice(USERS * 4 + ODD_USERS)
    name = escaped(user) if dice.random() < 0.9 else user
    header = dice.choice(["n,,"] * 6 + [f"n,a={name},", f"n,a={user},", "n,a=bob,", "y,,", "p=tls-unique,,"])
    extensions = dice.choice(
        [""] * 8
        + [
            ",tokenauth=true",
            ",tokenauth=TRUE",
            ",tokenauth=false",
            ",tokenauth=true,tokenauth=false",
            ",x=1",
            ",n=bob",
        ]
    )
    reserved = dice.choice([""] * 12 + ["m=x,"])
    return mutated(dice, f"{header}{reserved}n={name},r=abc{extensions}".encode(), NAMES)


class Proof:
    """The answer of a client that knows the password, signed as Kafka expects."""

    def __init__(self, servers: Servers, mechanism: str) -> None:
        credential = servers.credential(mechanism)
        self._name = "sha256" if mechanism.endswith("256") else "sha512"
        salted = hashlib.pbkdf2_hmac(self._name, PASSWORD.encode(), bytes(credential.salt()), 4096)
        self._key = hmac.digest(salted, b"Client Key", self._name)
        self._stored = hashlib.new(self._name, self._key).digest()

    def final(self, dice: random.Random, first: bytes, answer: bytes) -> bytes:
        """The final message, sometimes mutated."""
        header, bare = first[:3], first[3:]
        if first.startswith(b"n,a="):
            end = first.index(b",", 4) + 1
            header, bare = first[:end], first[end:]
        nonce = answer[2 : answer.index(b",")]
        without_proof = b"c=%b,r=%b" % (base64.b64encode(header), nonce)
        signature = hmac.digest(self._stored, b",".join((bare, answer, without_proof)), self._name)
        proof = bytes(one ^ other for one, other in zip(self._key, signature, strict=True))
        whole = without_proof + b",p=" + base64.b64encode(proof)
        return whole if dice.random() < 0.8 else mutated(dice, whole, b"cnrp=,abz0+/ \x01")


@pytest.mark.parametrize("mechanism", scram.PROOF)
@pytest.mark.parametrize("count", COUNTS)
def test_scram_is_read_as_kafka_reads_it(servers: Servers, mechanism: str, count: int) -> None:
    dice, met, proof = random.Random(12), Counter[str](), Proof(servers, mechanism)
    for _ in range(count):
        first = said_first(dice)
        with suppress(ClaimError):
            servers.know(mechanism, scram.first(first).user)
        talk(
            servers.server(mechanism),
            ObservedExchange(mechanism),
            [first, lambda answer, first=first: proof.final(dice, first, answer)],  # type: ignore[misc]
            met,
        )
    print(f"\n{mechanism}: {dict(met)}")
    assert met["the same name"] > count / 20
    assert met["nobody named"] > 0, "no delegation token came through"
    assert met["refused here alone"] > 0
