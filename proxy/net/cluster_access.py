"""Cluster access: connections to the brokers of one cluster, as its options say.

Rules:
* TLS, SASL and `via` are those of the cluster. An address that leads back to this proxy is refused (`loops.py`).
* Only a few clients are brought to an address before it is known to be no loop (`paths.py`).
"""

from contextlib import suppress

import trio

from proxy.auth.identity import Identities
from proxy.core.topology import Endpoint
from proxy.net.asking import CLIENT_ID
from proxy.net.broker_stream import BrokerStream
from proxy.net.dial import DIRECTLY, Via, connect, dial
from proxy.net.discovery import Cluster, discover, newest_metadata, nobody
from proxy.net.logins import LoggedIn, log_in_on
from proxy.net.loops import Loops
from proxy.net.outgoing import AnySocket
from proxy.net.paths import Paths, Start
from proxy.net.resolving import look_up_for
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.sayings import TlsError
from proxy.protocol.problem import ProtocolError


class ClusterAccess:
    """How this worker connects to the brokers of the cluster of this name, each of which has so many seconds."""

    def __init__(
        self,
        name: str,
        seconds: float,
        identities: Identities | None = None,
        tls: BrokerTls | None = None,
        loops: Loops | None = None,
        start: Start | None = None,
        via: Via = DIRECTLY,
    ) -> None:
        self.name = name
        self.seconds = seconds
        self.identities = identities
        self._tls = tls
        self._loops, self._via = loops, via
        self.paths = Paths(self._ask_through, start) if start is not None else None
        self._hashing = trio.CapacityLimiter(1)  # one thread, so that no other cluster waits for it

    async def connect(self, endpoint: Endpoint, until: float) -> AnySocket:
        """A connection for a client. Raises UnreachableError."""
        look_up_for(self.name)
        return await connect(endpoint, max(0.0, until - trio.current_time()), self._tls, self._check, self._via)

    async def _check(self, endpoint: Endpoint, until: float) -> None:
        """May a client be brought there? Raises UnreachableError, TooSlowError."""
        if self.paths is not None:
            await self.paths.admit(endpoint, until)
        if self._loops is not None:
            await self._loops.check(endpoint, until)

    async def _ask_through(self, endpoint: Endpoint) -> None:
        """Ask the process at this address. Does the question come back to us? Raises UnreachableError."""
        look_up_for(self.name)
        with suppress(ProtocolError, TlsError):  # it is no broker, but no loop either
            old = self.identities is None  # brokers before 0.10 could not authenticate us
            await newest_metadata(endpoint, self.seconds, self._tls, self._loops, self._via, old=old)

    async def log_in(
        self, connected: AnySocket, endpoint: Endpoint, principal: str | None, mark: str | None = None
    ) -> LoggedIn | None:
        """Say on a fresh connection who we are for this client, if they want to know. Raises UnreachableError.

        `mark`: that of the Doorkeeper that this client is.
        """
        if self.identities is None:
            return None
        stream, mark = BrokerStream(connected), mark or self.mark
        return await log_in_on(stream, endpoint, self.identities, principal, self.seconds, mark, self._hashing)

    @property
    def mark(self) -> str:
        """The client id of the proxy's own requests."""
        return CLIENT_ID if self._loops is None else self._loops.mark

    async def dial_ourselves(self, endpoint: Endpoint) -> tuple[BrokerStream, float | None]:
        """A connection on which a broker knows us, and for how many seconds it does. Raises UnreachableError."""
        look_up_for(self.name)
        check = None if self._loops is None else self._loops.check
        stream = await dial(endpoint, self.seconds, self._tls, check, self._via)
        try:
            logged_in = await self.log_in(stream.socket, endpoint, None)
        except BaseException:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)
            raise
        return stream, logged_in.lifetime if logged_in else None

    async def discover(self, endpoint: Endpoint) -> Cluster:
        """The cluster, as this broker tells it. Raises UnreachableError, ReservedError."""
        log_in = nobody if self.identities is None else self._log_in
        return await discover(endpoint, self.seconds, log_in, self._tls, self._loops, self._via)

    async def _log_in(self, stream: BrokerStream, endpoint: Endpoint) -> None:
        await self.log_in(stream.socket, endpoint, None)
