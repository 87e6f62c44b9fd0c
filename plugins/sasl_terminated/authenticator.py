"""Authenticator: a client's exchange of tokens at the proxy, whether its tokens have headers or not.

Rules:
* What takes long to check takes steps.
* A refusal is delayed, the longer the more refusals the client's address has had.
* When a client authenticates again, the mechanism and the principal must stay the same (KIP-368). The authority of the
  configuration in force decides: whom the one knows with which the connection began, that one may not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from plugins.sasl_terminated.session import SaslSession
from proxy.plugin import Connection, PluginClock, Refused, Signal, Step, Steps
from proxy.plugin.sasl import (
    Accepted,
    Authority,
    Exchange,
    Rejecting,
    StepResult,
    other_mechanism,
    other_principal,
    rejected,
)

PresentAuthority = Callable[[], Authority | None]  # the one in force; None: the listener has none any more
LogIn = Callable[[Connection, str], Steps]  # of the principal; an answer other than None ends the connection


class Authenticator:
    """Authenticates the clients of one listener."""

    def __init__(self, first: Authority, present: PresentAuthority, log_in: LogIn | None, clock: PluginClock) -> None:
        self._first = first
        self._present = present
        self._log_in = log_in
        self._clock = clock

    @property
    def authority(self) -> Authority | None:
        """The authority that decides about clients that begin now. None: nobody does."""
        return self._present()

    def begin(self, session: SaslSession, authority: Authority, mechanism: str) -> Exchange:
        """The exchange of a client that named this mechanism."""
        if session.number and mechanism != session.mechanism:
            return Rejecting(rejected(other_mechanism(session.mechanism, mechanism), mechanism, True))
        session.mechanism = mechanism
        return authority.begin(mechanism, session.number > 0)

    def step(self, session: SaslSession, token: bytes) -> Generator[Step, Any, StepResult]:
        """Give a token to the exchange that is under way."""
        assert session.exchange is not None
        outcome = session.exchange.step(token)
        if isinstance(outcome, Generator):
            outcome = yield from self._timed(session, outcome)
        if not isinstance(outcome, Accepted):
            return outcome
        principal, before = f"User:{outcome.user}", session.connection.principal
        if session.number and principal != before:
            return rejected(other_principal(str(before), principal), session.mechanism, True)
        authority = self._present() or self._first
        limits = [seconds for seconds in (authority.session, outcome.lifetime) if seconds is not None]
        return outcome._replace(lifetime=min(limits, default=None))

    def _timed(self, session: SaslSession, check: Generator[Step, Any, StepResult]) -> Generator[Step, Any, StepResult]:
        """Check a token, and note how long the client waited for that."""
        began, session.checked = self._clock.now, Signal()
        try:
            return (yield from check)
        finally:
            session.waited += self._clock.now - began
            session.checked.release()

    def log_in(self, session: SaslSession, accepted: Accepted) -> Steps:
        """Tell the broker for which client the proxy speaks, where that is configured."""
        if self._log_in is None or session.number:
            return None
        session.is_logged_in = True
        return (yield from self._log_in(session.connection, f"User:{accepted.user}"))

    def failed(self, connection: Connection, mechanism: str, why: str, user: str | None = None) -> float:
        """Emit the event of a refusal. Returns the seconds to wait before the client is told."""
        connection.gate.tell(Refused(mechanism, why, user and f"User:{user}"))
        return self._first.failed(connection.client[0])
