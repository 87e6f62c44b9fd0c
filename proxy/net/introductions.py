"""Introductions: authentication on a new connection to a broker that requires it.

Rules:
* It comes first on the connection, and must end within the dial timeout.
* The broker's API versions are asked for first. A broker allows that once before authentication.
* Proofs of SCRAM are made one at a time, in a thread. The loop goes on meanwhile.
* A broker that refuses us is an `UnreachableError` with its address and its words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import trio

from proxy.auth.identity import Identities, Identity, IntroductionError, Versions, introduce
from proxy.core.decisions import Ask, Call
from proxy.core.driving import StepDriver
from proxy.core.topology import Endpoint
from proxy.net.asking import EndedError, ask
from proxy.net.dial import UnreachableError
from proxy.net.tls.sayings import TlsError
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.problem import ProtocolError

PROOFS = trio.CapacityLimiter(1)


class Introduced(NamedTuple):
    """The identity at a broker, the broker's versions, and the session's lifetime in seconds (None: no end)."""

    identity: Identity
    versions: Versions
    lifetime: float | None


async def introduce_on(
    stream: trio.abc.Stream, endpoint: Endpoint, identities: Identities, principal: str | None, seconds: float
) -> Introduced:
    """Authenticate on a connection for this client. Raises UnreachableError."""
    try:
        with trio.fail_after(seconds):
            identity = identities.of(principal)
            known = await ask(stream, ApiVersionsRequest(), 0, ApiVersionsResponse, "api_keys")
            versions = {api.api_key: (api.min_version, api.max_version) for api in known.api_keys}
            return Introduced(identity, versions, await _introduce(stream, identity, versions))
    except IntroductionError as error:
        raise UnreachableError(endpoint, str(error)) from None
    except EndedError:
        raise UnreachableError(endpoint, "closed the connection during authentication") from None
    except TlsError as error:
        raise UnreachableError(endpoint, f"no TLS: {error}") from None
    except ProtocolError as error:
        raise UnreachableError(endpoint, f"does not speak Kafka: {error}") from None
    except trio.TooSlowError:
        why = f"did not authenticate us within {round(seconds, 2):g} s"
        raise UnreachableError(endpoint, why, stalled=True) from None


async def _introduce(stream: trio.abc.Stream, identity: Identity, versions: Versions) -> float | None:
    driver = StepDriver(introduce(identity, versions))
    while driver.advance():
        try:
            driver.give(await _taken(stream, driver.step))
        except Exception as error:
            driver.throw(error)
    return driver.result


async def _taken(stream: trio.abc.Stream, step: object) -> Any:
    if isinstance(step, Call):
        return await trio.to_thread.run_sync(step.work, limiter=PROOFS)
    assert isinstance(step, Ask)
    assert step.version is not None
    return await ask(stream, step.request, step.version, step.request.api.response)
