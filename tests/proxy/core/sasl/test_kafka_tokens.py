"""Names in a token: Kafka's own server gives a client the same name as the proxy, or refuses it.

Kafka has two servers that differ: one reads signed tokens (with jose4j), the other unsigned ones (with Jackson).
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from proxy.auth.tokens import BearerExchange, TokenValidator
from proxy.core.sasl.authority import Accepted
from proxy.core.sasl.observed import ObservedExchange
from tests.proxy.auth.issuer import Issuer
from tests.proxy.auth.stepping import step
from tests.proxy.core.sasl.odd import part
from tests.proxy.core.sasl.oracle import Servers, mutated, talk
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError

COUNTS = [1_500, pytest.param(100_000, marks=pytest.mark.long)]
ISSUER = Issuer()
SUBJECTS = ['"alice"', '"bob"', '"admin"', '"zo\\u00eb"', '"zoë"', '"a,b=c"', '"\\ud83d\\ude00"']
ODD_SUBJECTS = [
    '" alice"',
    '"alice\\t"',
    '"alice\\u0000"',
    '"\\ud800"',
    "7",
    "true",
    "null",
    '["alice"]',
    '{"a":1}',
    '""',
]
SPELLINGS = ['"sub"'] * 40 + ['"s\\u0075b"', '"Sub"', '"sub "', "'sub'"]
MEMBERS = [
    '"aud":"other"',
    '"aud":["kafka",1]',
    '"iss":7',
    '"x":{"sub":"bob"}',
    '"x":{"y":1,"y":2}',
    '"x":[[[["sub","bob"]]]]',
    '"x":NaN',
    '"x":1e999',
    '"nbf":0',
    '"iat":1.5',
    '"exp":"soon"',
    '"exp":99999999999',
    '"jti":"7"',
    '"scope":"write"',
]
HEADERS = [b'{"alg":"ES256","kid":"k1"}'] * 40 + [
    b'{"alg":"ES256","kid":"k1","typ":"at+jwt"}',
    b'{"alg":"ES256","kid":"k1","cty":"JWT"}',
    b'{"alg":"ES256","kid":"k1","crit":["b64"],"b64":false}',
    b'{"alg":"ES256","kid":"k1","crit":["b64"],"b64":true}',
    b'{"alg":"ES256","kid":"k1","alg":"ES256"}',
    b'{"alg":"none"}',
    b'{"kid":"k1"}',
    b'{"alg":"ES256","kid":"k2"}',
]
BYTES = b'{}[]":,. aslicebobdminu\\0Zz9-_=\x01\x7f\xc3\xff'


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Kafka("kafka-4.3.1") as kafka:
        yield Servers(kafka, ISSUER, tmp_path_factory.mktemp("oracle"))


def payload(dice: random.Random) -> bytes:
    now = int(time.time())
    members = ['"aud":"kafka"', f'"exp":{now + 900}', f'"iat":{now - 9}']
    for _ in range(dice.choice((1,) * 20 + (0, 2, 2))):
        members.append(f"{dice.choice(SPELLINGS)}:{dice.choice(SUBJECTS * 12 + ODD_SUBJECTS)}")
    members += dice.sample(MEMBERS, dice.choice((0, 0, 0, 0, 0, 0, 1, 2)))
    dice.shuffle(members)
    text = dice.choice(("{%s}",) * 40 + (" {%s}\n", "{%s,}", "{%s}{}", "[{%s}]", "\ufeff{%s}")) % ",".join(members)
    return mutated(dice, text.encode("utf-16" if dice.random() < 0.01 else "utf-8"), BYTES)


def signed(dice: random.Random) -> str:
    if dice.random() < 0.02:  # a token in a token
        return ISSUER.sign(b'{"alg":"ES256","kid":"k1","cty":"JWT"}', ISSUER.sign(HEADERS[0], payload(dice)).encode())
    token = ISSUER.sign(mutated(dice, dice.choice(HEADERS), BYTES), payload(dice))
    return mutated(dice, token.encode(), b"aQR-_.=").decode() if dice.random() < 0.1 else token


def unsigned(dice: random.Random) -> str:
    header = b'{"alg":"none"}' if dice.random() < 0.9 else mutated(dice, dice.choice(HEADERS), BYTES)
    return f"{part(header)}.{part(payload(dice))}."


def said(dice: random.Random, kind: str) -> bytes:
    """A first message with one token or two, sometimes mutated."""
    tokens = [(signed if kind == "OAUTHBEARER" else unsigned)(dice) for _ in range(dice.choice((1,) * 18 + (2,)))]
    keys = [dice.choice(["auth"] * 60 + ["Auth", "AUTH", "aut", "auth "]) for _ in tokens]
    pairs = [
        f"{key}={dice.choice(['Bearer'] * 18 + ['bearer', 'Basic'])} {token}"
        for key, token in zip(keys, tokens, strict=True)
    ]
    pairs += dice.choice(([], [], [], [], ["traceId=1"], ["x=1", "x=2"], ["host=kafka"]))
    dice.shuffle(pairs)
    header = dice.choice(["n,,"] * 30 + ["n,a=alice,", "n,a=a=2Cb=3Dc,", "y,,", "n,a=admin,"])
    message = "\x01".join((header, *pairs, "", "")).encode()
    return mutated(dice, message, b"\x01=, nay") if dice.random() < 0.3 else message


@pytest.mark.parametrize("kind", ["OAUTHBEARER", "unsecured"])
@pytest.mark.parametrize("count", COUNTS)
def test_tokens_are_read_as_kafka_reads_them(servers: Servers, kind: str, count: int) -> None:
    dice, met = random.Random(13), Counter[str]()
    for _ in range(count):
        first = said(dice, kind)
        then = dice.choice((b"\x01", said(dice, kind), said(dice, kind)))
        talk(servers.server(kind), ObservedExchange("OAUTHBEARER"), [first, then], met)
    print(f"\n{kind}: {dict(met)}")
    assert met["the same name"] > count / 10
    assert met["refused here, and Kafka takes it"] > 0


@pytest.mark.parametrize("kind", ["OAUTHBEARER", "unsecured"])
@pytest.mark.parametrize("count", COUNTS)
def test_the_proxy_takes_a_token_only_for_whom_kafka_takes_it(servers: Servers, kind: str, count: int) -> None:
    """The proxy verifies tokens itself here, with the same keys."""
    dice, met = random.Random(14), Counter[str]()
    judge = TokenValidator((lambda: ISSUER.keys) if kind == "OAUTHBEARER" else None, audience=("kafka",), skew=0.0)
    for _ in range(count):
        message = said(dice, kind)
        outcome = step(BearerExchange(judge), message)
        if not isinstance(outcome, Accepted):
            met["refused"] += 1
            continue
        server = servers.server(kind)
        try:
            server.evaluateResponse(message)
        except KafkaRefusedError:
            met["refused by Kafka alone"] += 1
            continue
        met["the same name" if server.isComplete() else "refused by Kafka alone"] += 1
        assert not server.isComplete() or server.getAuthorizationID() == outcome.user, message
    print(f"\n{kind}, terminated: {dict(met)}")
    assert met["the same name"] > count / 10


def test_there_is_something_to_be_told_apart(servers: Servers) -> None:
    """Kafka uses the last of two tokens, accepts a second token after a refused one, and trims names."""
    now = time.time()
    hers, forged = ISSUER.token(now), Issuer().token(now, sub="admin")
    message = b"n,,\x01auth=Bearer %b\x01auth=Bearer %b\x01\x01"
    server = servers.server("OAUTHBEARER")
    server.evaluateResponse(message % (forged.encode(), hers.encode()))
    assert server.getAuthorizationID() == "alice"
    server = servers.server("OAUTHBEARER")
    for token in (forged, hers):
        server.evaluateResponse(b"n,,\x01auth=Bearer %b\x01\x01" % token.encode())
    assert server.getAuthorizationID() == "alice"
    server = servers.server("OAUTHBEARER")
    server.evaluateResponse(b"n,,\x01auth=Bearer %b\x01\x01" % ISSUER.token(now, sub=" alice\t").encode())
    assert server.getAuthorizationID() == "alice"
    twice = f'{{"sub":"admin","sub":"alice","exp":{int(now) + 60}}}'.encode()
    server = servers.server("unsecured")
    server.evaluateResponse(
        f"n,,\x01auth=Bearer {part(json.dumps({'alg': 'none'}).encode())}.{part(twice)}.\x01\x01".encode()
    )
    assert server.getAuthorizationID() == "alice"
