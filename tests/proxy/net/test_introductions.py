"""A fresh connection to a broker that wants to know who we are: another proxy, with an authority of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from proxy.auth.identity import Identities, Password
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError, dial
from proxy.net.discovery import discover
from proxy.net.gateway import Gateway
from proxy.net.introductions import introduce_on
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, configuration, connected, port_of, serving


def guarded(folder: Path, upstream: Endpoint) -> dict[str, object]:
    """The configuration of a proxy that wants to know its clients."""
    save(folder / "users.yaml", {"doorkeeper": verifiers("dk-secret")})
    config = configuration(upstream)
    bind = str(config.listeners["clients"].bind)
    sasl = {"mechanisms": ["PLAIN", "SCRAM-SHA-256"], "credentials": str(folder / "users.yaml"), "session": "1h"}
    return {"clients": {"cluster": "main", "bind": bind, "sasl": sasl}}


def identities(mechanism: str, password: str = "dk-secret") -> Identities:
    return Identities(Password(mechanism, "doorkeeper", password), {})


async def outer(inner: Gateway, mechanism: str, password: str) -> None:
    at = Endpoint(LOOPBACK, port_of(inner.snapshot.config))
    async with await dial(at, PATIENCE) as stream:
        known = await introduce_on(stream, at, identities(mechanism, password), None, PATIENCE)
    assert known.lifetime == 3600.0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_a_broker_learns_who_we_are(nursery: trio.Nursery, tmp_path: Path, mechanism: str) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    config = configuration(broker.endpoint, listeners=guarded(tmp_path, broker.endpoint))
    async with serving(config) as inner:
        await outer(inner, mechanism, "dk-secret")
        with pytest.raises(UnreachableError, match="refused our credentials: Authentication failed"):
            await outer(inner, mechanism, "wrong")
        with pytest.raises(UnreachableError, match="does not speak SCRAM-SHA-512, but PLAIN, SCRAM-SHA-256"):
            await outer(inner, "SCRAM-SHA-512", "dk-secret")
    broker.die()


async def test_discovery_and_clients_come_through_a_broker_that_wants_to_know(
    nursery: trio.Nursery, tmp_path: Path
) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    config = configuration(broker.endpoint, listeners=guarded(tmp_path, broker.endpoint))
    async with serving(config) as inner:
        at = Endpoint(LOOPBACK, port_of(inner.snapshot.config))
        with pytest.raises(UnreachableError):
            await discover(at, PATIENCE)
        cluster = {"bootstrap": [str(at)]}
        cluster |= {"sasl": {"mechanism": "PLAIN", "username": "doorkeeper", "password": "dk-secret"}}  # type: ignore[dict-item]
        outside = configuration(at, clusters={"main": cluster})
        async with serving(outside), connected(LOOPBACK, port_of(outside)) as client:
            assert await client.beat() == 0
    broker.die()
