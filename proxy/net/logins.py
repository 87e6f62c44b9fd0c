"""Logins: authentication on a new connection to a broker that requires it.

Rules:
* It comes first on the connection, and must end within the dial timeout.
* The broker's API versions are asked for first. A broker allows that once before authentication. The question has a
  mark, so that it is recognized if it comes back (`loops.py`).
* What takes long to compute is computed in a thread.
* A broker that refuses us is an `UnreachableError` with its address and its words.
"""

from __future__ import annotations

from typing import NamedTuple

import trio

from plugins.api_versions import LOOP
from proxy.auth.identity import Identities, Identity, Versions, log_in
from proxy.auth.speakers import LoginError
from proxy.core.decisions import Ask, Call
from proxy.core.driving import StepDriver
from proxy.core.topology import Endpoint
from proxy.net.asking import CLIENT_ID, EndedError, ask
from proxy.net.dial import UnreachableError
from proxy.net.loops import COMES_BACK, LoopError
from proxy.net.tls.sayings import TlsError
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.problem import ProtocolError


class LoggedIn(NamedTuple):
    """The identity at a broker, the broker's versions, and the session's lifetime in seconds (None: no end)."""

    identity: Identity
    versions: Versions
    lifetime: float | None


async def log_in_on(
    stream: trio.abc.Stream,
    endpoint: Endpoint,
    identities: Identities,
    principal: str | None,
    seconds: float,
    mark: str = CLIENT_ID,
    hashing: trio.CapacityLimiter | None = None,
) -> LoggedIn:
    """Authenticate on a connection for this client. `hashing` has the threads for it.

    Raises UnreachableError; LoopError if our question, with this mark, came back to the Doorkeeper whose mark it is.
    """
    try:
        with trio.fail_after(seconds):
            identity = identities.of(principal)
            known = await ask(stream, ApiVersionsRequest(), 0, ApiVersionsResponse, client_id=mark)
            if known.error_code == LOOP:
                raise LoopError(endpoint, COMES_BACK)
            versions = {api.api_key: (api.min_version, api.max_version) for api in known.api_keys}
            return LoggedIn(identity, versions, await _log_in(stream, identity, versions, hashing))
    except LoginError as error:
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


async def _log_in(
    stream: trio.abc.Stream, identity: Identity, versions: Versions, hashing: trio.CapacityLimiter | None
) -> float | None:
    driver = StepDriver(log_in(identity, versions))
    while driver.advance():
        step = driver.step
        if isinstance(step, Call):
            driver.give(await trio.to_thread.run_sync(step.work, limiter=hashing))
        else:
            assert isinstance(step, Ask)
            assert step.version is not None
            driver.give(await ask(stream, step.request, step.version, step.request.api.response))
    return driver.result
