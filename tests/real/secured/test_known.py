"""Real clients, real brokers with authentication, and Doorkeeper between them in each of its ways.

A client may use only topics that begin with its own name, so each topic shows that the right client wrote to it. Each
client goes each way once, with another mechanism each time; the long run has every mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.real.secured.clients import CLIENTS, UNSIGNED_ALONE, UNSPOKEN, As
from tests.real.secured.cluster import MECHANISMS
from tests.real.secured.guarding import AS_ITSELF, BROKERS, TLS, Guarding

pytestmark = [pytest.mark.real]

VALUES = [b"%d" % number for number in range(20)]


def spoken(client: str, way: str) -> list[str]:
    """The mechanisms of this way."""
    if way in ("tokens", "signed"):
        mechanisms = [] if client in UNSIGNED_ALONE else ["OAUTHBEARER"]
    else:
        mechanisms = [name for name in MECHANISMS if way == "inspected" or name != "OAUTHBEARER"]
    return [name for name in mechanisms if (client, name) not in UNSPOKEN]


def pairs() -> Iterator[object]:
    """Every client on every way and transport; the mechanisms take turns."""
    turn = 0
    for client in CLIENTS:
        for way in BROKERS:
            for transport in BROKERS[way] if way not in ("certified", "renewed") else ():
                turn += 1
                mechanisms = spoken(client, way)
                for place, mechanism in enumerate(mechanisms):
                    long = [] if place == turn % len(mechanisms) else [pytest.mark.long]
                    yield pytest.param(client, way, transport, mechanism, marks=long)


@pytest.mark.parametrize(("client", "way", "transport", "mechanism"), list(pairs()))
def test_each_client_works_and_is_known(
    guarding: Guarding, client: str, way: str, transport: str, mechanism: str
) -> None:
    owner = "doorkeeper" if way in AS_ITSELF else "alice"
    topic = f"{owner}-{client}-{way}-{transport}-{mechanism}"
    facts = [f'"listener": "{way}-{transport}"', '"User:alice"', f'"mechanism": "{mechanism}"']
    if transport == TLS:
        facts.append('"tls": "TLSv1.')
    with guarding.tells('"client authenticated"', *facts):
        taken = CLIENTS[client](guarding.client(way, transport, mechanism), topic, VALUES)
        assert sorted(taken) == sorted(VALUES), taken


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "proxy"])
def test_each_client_is_known_by_its_certificate(guarding: Guarding, client: str, direct: bool) -> None:
    """Directly, the brokers see the client's own principal; through the proxy, they see the proxy's."""
    owner = client if direct else "doorkeeper"
    subject = f'"subject": "CN={client.capitalize()},O=Clients"'
    told = guarding.tells('"listener": "certified-tls"', f'"principal": "User:{client}"', subject)
    with nullcontext() if direct else told:
        taken = CLIENTS[client](certified(guarding, client, direct), f"{owner}-certified-{client}", VALUES)
        assert sorted(taken) == sorted(VALUES), taken


@pytest.mark.parametrize("direct", [True, False], ids=["direct", "proxy"])
def test_a_certificate_is_good_for_nothing_of_others(guarding: Guarding, direct: bool) -> None:
    other = "doorkeeper" if direct else "aiokafka"
    refused = CLIENTS["aiokafka"](certified(guarding, "aiokafka", direct), f"{other}-refused", VALUES)
    assert "TopicAuthorizationFailed" in str(refused)


def certified(guarding: Guarding, client: str, direct: bool) -> As:
    """A client with a certificate for its own name."""
    at = guarding.direct("certified", TLS) if direct else guarding.at("certified", TLS)
    return As(at, None, papers=guarding.shown(client.capitalize()))


@pytest.mark.parametrize("way", ["inspected", "terminated", "mapped"])
def test_nobody_touches_what_is_anothers(guarding: Guarding, way: str) -> None:
    """Where SASL is terminated, the brokers know only the proxy: there the proxy's own rules would decide."""
    outcome = CLIENTS["kafka-python"](guarding.client(way, TLS, "SCRAM-SHA-256", "bob"), f"alice-of-{way}", VALUES)
    assert "TopicAuthorizationFailed" in str(outcome)
