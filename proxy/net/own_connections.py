"""Own connections: connections on which the proxy itself is a client of a broker.

Rules:
* They use TLS, SASL and `via` of the cluster. An address that leads back to this proxy is refused (`loops.py`).
* Every error is an UnreachableError with the broker's address and the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar

import trio

from plugins.api_versions import LOOP
from proxy.core.topology import Endpoint
from proxy.net.asking import CLIENT_ID, EndedError, ask
from proxy.net.dial import UnreachableError
from proxy.net.loops import COMES_BACK, LoopError
from proxy.net.tls.sayings import TlsError
from proxy.net.upstream import Upstream
from proxy.protocol.api import Api
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request, Response

R = TypeVar("R", bound=Response)
GOOD_FOR = 0.8  # of the session's lifetime


class OwnConnection:
    """A connection to one broker. It must not be used after `until` (trio's clock), when its session ends.

    `upstream`: the cluster as it was when the connection began.
    """

    def __init__(self, stream: trio.abc.Stream, upstream: Upstream, endpoint: Endpoint, until: float) -> None:
        self.upstream = upstream
        self.endpoint = endpoint
        self.until = until
        self._stream = stream
        self.newest: Mapping[int, int] = {}  # by API: the newest version that the broker has

    @staticmethod
    async def begun(upstream: Upstream, endpoint: Endpoint) -> OwnConnection:
        """Connect to this broker of a cluster. Raises UnreachableError."""
        stream, lifetime = await upstream.access.dial_ourselves(endpoint)
        until = math.inf if lifetime is None else trio.current_time() + lifetime * GOOD_FOR
        begun = OwnConnection(stream, upstream, endpoint, until)
        try:
            answer = await begun.ask(ApiVersionsRequest(), 0, ApiVersionsResponse, client_id=upstream.access.mark)
            if answer.error_code == LOOP:
                raise LoopError(endpoint, COMES_BACK)
        except BaseException:
            await begun.close()
            raise
        begun.newest = {one.api_key: one.max_version for one in answer.api_keys}
        return begun

    def version(self, api: Api, oldest: int, newest: int) -> int:
        """The newest version of an API, up to `newest`, that the broker has. Raises UnreachableError."""
        version = min(self.newest.get(api.key, -1), newest)
        if version < oldest:
            raise UnreachableError(self.endpoint, f"has no {api.name} v{oldest}; it is older than this needs")
        return version

    async def ask(
        self, request: Request, version: int, expected: type[R], *fields: str, client_id: str = CLIENT_ID
    ) -> R:
        """The answer, or only these fields of it. Raises UnreachableError."""
        try:
            return await ask(self._stream, request, version, expected, *fields, client_id=client_id)
        except EndedError:
            why = f"closed the connection instead of answering {request.api.name}"
            raise UnreachableError(self.endpoint, why) from None
        except TlsError as error:
            raise UnreachableError(self.endpoint, f"no TLS: {error}") from None
        except ProtocolError as error:
            raise UnreachableError(self.endpoint, f"does not speak Kafka: {error}") from None

    async def close(self) -> None:
        """Close it at once, even during a cancellation."""
        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._stream)

    async def __aenter__(self) -> OwnConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
