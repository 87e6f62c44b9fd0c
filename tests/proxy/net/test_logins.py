"""A new connection to a broker that requires authentication; the broker is another proxy with its own authority."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from proxy.auth.identity import Identities, Password
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError, dial
from proxy.net.discovery import discover
from proxy.net.gateway import Gateway
from proxy.net.logins import log_in_on
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, Client, configuration, connected, port_of, serving

OURS = {"username": "doorkeeper", "password": "dk-secret"}


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
        known = await log_in_on(stream, at, identities(mechanism, password), None, PATIENCE)
    assert known.lifetime == 3600.0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_a_broker_learns_who_we_are(nursery: trio.Nursery, tmp_path: Path, mechanism: str) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    config = configuration(broker.endpoint, listeners=guarded(tmp_path, broker.endpoint))
    async with serving(config) as inner:
        await outer(inner, mechanism, "dk-secret")
        with pytest.raises(UnreachableError, match="refused our credentials: SASL_AUTHENTICATION_FAILED"):
            await outer(inner, mechanism, "wrong")
        with pytest.raises(UnreachableError, match='does not speak SCRAM-SHA-512, but "PLAIN, SCRAM-SHA-256'):
            await outer(inner, "SCRAM-SHA-512", "dk-secret")
        with pytest.raises(UnreachableError, match="SCRAM-SHA-256 cannot send our name or password") as told:
            await outer(inner, "SCRAM-SHA-256", "dk-secret\0")
        assert "dk-secret" not in str(told.value)
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


async def test_a_session_with_a_broker_is_renewed_with_the_password_of_now(
    nursery: trio.Nursery, tmp_path: Path
) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    listeners = guarded(tmp_path, broker.endpoint)
    listeners["clients"]["sasl"]["session"] = "2s"  # type: ignore[index]
    inside = configuration(broker.endpoint, listeners=listeners)

    def outside(password: str) -> Config:
        sasl = {"mechanism": "PLAIN", "username": "doorkeeper", "password": password}
        return configuration(at, clusters={"main": {"bootstrap": [str(at)], "sasl": sasl}}, listeners={"clients": here})

    async with serving(inside) as inner:
        at = Endpoint(LOOPBACK, port_of(inner.snapshot.config))
        here = {"cluster": "main", "bind": str(configuration(at).listeners["clients"].bind)}
        async with serving(outside("dk-secret")) as outer, connected(LOOPBACK, port_of(outer.config)) as client:
            assert await client.beat() == 0
            with capture_logs() as logs, trio.fail_after(PATIENCE):
                save(tmp_path / "users.yaml", {"doorkeeper": verifiers("new-secret")})
                await inner.apply(inside)
                await outer.apply(outside("new-secret"))
                while not any(line["event"] == "client authenticated" and line["again"] for line in logs):
                    assert await client.beat() == 0
    broker.die()


async def logged_in(client: Client, user: str, password: str) -> None:
    agreed = await client.ask(SaslHandshakeRequest(mechanism="PLAIN"), SaslHandshakeResponse, 1)
    token = SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode())
    known = await client.ask(token, SaslAuthenticateResponse, 1)
    assert (agreed.error_code, known.error_code) == (0, 0)


@asynccontextmanager
async def speaking_for_all(
    folder: Path, broker: Broker, user: str, rules: str, identities: dict[str, object]
) -> AsyncIterator[Client]:
    """A client, logged in as this user, of a proxy that has rules and is one user to its broker."""
    (folder / "acl.yaml").write_text(f"acls: [{rules}]\n")
    save(folder / "clients.yaml", {"alice": verifiers("a-secret")})
    async with serving(configuration(broker.endpoint, listeners=guarded(folder, broker.endpoint))) as inner:
        at = Endpoint(LOOPBACK, port_of(inner.snapshot.config))
        listener: dict[str, object] = {"cluster": "main", "bind": str(configuration(at).listeners["clients"].bind)}
        if user:
            listener["sasl"] = {"mechanisms": ["PLAIN"], "credentials": str(folder / "clients.yaml")}
        outside = configuration(
            at,
            clusters={"main": {"bootstrap": [str(at)], "sasl": {"mechanism": "PLAIN", **OURS, **identities}}},
            listeners={"clients": listener},
            plugins=[{"acl": {"rules": str(folder / "acl.yaml")}}],
        )
        async with serving(outside), connected(LOOPBACK, port_of(outside)) as client:
            if user:
                await logged_in(client, user, "a-secret")
            yield client


IDENTITIES: dict[str, dict[str, object]] = {
    "as for everybody": {},
    "by an identity of her own": {"identities": {"User:alice": OURS}},
}
TOKEN = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)


@pytest.mark.parametrize("user", ["", "alice"])
async def test_no_client_has_a_token_made_for_the_user_that_speaks_for_all(
    broker: Broker, tmp_path: Path, user: str
) -> None:
    """Brokers would make it for that user."""
    async with speaking_for_all(tmp_path, broker, user, "", {}) as client:
        answer = await client.ask(TOKEN, CreateDelegationTokenResponse, 2)
    refusals = (ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    assert answer.error_code == refusals[bool(user)]
    assert "CreateDelegationToken" not in {name for name, _ in broker.asked}


@pytest.mark.parametrize("identities", IDENTITIES.values(), ids=IDENTITIES)
async def test_who_has_the_right_to_tokens_of_that_user_has_one_made(
    broker: Broker, tmp_path: Path, identities: dict[str, object]
) -> None:
    """It is known whom the broker takes her for since we logged in."""
    broker.closes_on = {"CreateDelegationToken"}
    right = "{allow: User:alice, to: CreateTokens, users: 'User:doorkeeper'}"
    async with speaking_for_all(tmp_path, broker, "alice", right, identities) as client:
        await client.send(request_frame(TOKEN, 2, 3, None))
        assert await client.is_closed(), "the broker would have been asked"
    assert "CreateDelegationToken" in {name for name, _ in broker.asked}
