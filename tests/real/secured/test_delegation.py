"""Delegation tokens (KIP-48), created and used through the proxy; brokers know their owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from tests.real.java_clients import JavaClients, each
from tests.real.records import patiently
from tests.real.secured.clients import As, for_java, java
from tests.real.secured.guarding import PLAIN, TLS, Guarding
from tests.real.way import Way

pytestmark = pytest.mark.real


@pytest.mark.parametrize("transport", [PLAIN, TLS])
def test_a_delegation_token_stands_for_whom_it_was_given_to(guarding: Guarding, transport: str) -> None:
    clients, owner = java("4.4.0"), guarding.client("inspected", transport, "SCRAM-SHA-256")
    way = Way("delegated", owner.bootstrap, {})
    with clients.admin(way, **for_java(owner)) as admin:
        token = admin.createDelegationToken().delegationToken().get()
        name, secret = token.tokenInfo().tokenId(), token.hmacAsBase64String()
    bearer = As(owner.bootstrap, "SCRAM-SHA-256", name, secret, owner.papers)
    settings = for_java(bearer)
    settings["sasl_jaas_config"] = settings["sasl_jaas_config"].replace(";", ' tokenauth="true";')
    topic = f"alice-delegated-{transport}"
    for _ in patiently("all brokers know the token"):  # brokers learn of a token with a delay
        if all(comes_in(clients, Way("delegated", place, {}), settings) for place in brokers(guarding, transport)):
            break
    with guarding.tells('"client authenticated"', f'"listener": "inspected-{transport}"', f'"delegation": "{name}"'):
        with clients.producer(way, **settings) as producer:
            assert producer.send(clients.record(topic, b"v")).get().hasOffset()
        with clients.consumer(way, topic, topic, **settings) as consumer:
            assert [bytes(record.value()) for record in clients.take(consumer, 1)] == [b"v"]
    with clients.admin(way, **for_java(owner)) as admin:
        found = {it.tokenInfo().tokenId() for it in each(admin.describeDelegationToken().delegationTokens().get())}
        assert name in found


def brokers(guarding: Guarding, transport: str) -> list[str]:
    """Each broker's own address."""
    return guarding.direct("inspected", transport).split(",")


def comes_in(clients: JavaClients, way: Way, settings: Mapping[str, Any]) -> bool:
    """Does this broker authenticate the client?"""
    with clients.admin(way, **settings) as admin:
        try:
            return bool(admin.describeCluster().nodes().get())
        except Py4JJavaError:
            return False
