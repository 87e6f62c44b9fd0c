"""Bare tokens: those of a client that the proxy authenticates, after SaslHandshake v0. They have no headers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from plugins.sasl_terminated.authenticator import Authenticator
from plugins.sasl_terminated.session import SaslSession
from proxy.plugin import Disconnect, Sleep, Step, Steps
from proxy.plugin.frames import Buffer
from proxy.plugin.sasl import Accepted, Rejected, StepResult


class BareTokens:
    """The tokens of one session."""

    def __init__(self, authenticator: Authenticator, session: SaslSession) -> None:
        self._authenticator = authenticator
        self._session = session

    def client(self, token: bytes) -> Sequence[Buffer]:
        """A step of the client."""
        gate = self._session.connection.gate
        gate.wait()
        gate.run(self._go_on(self._authenticator.step(self._session, token)))
        return gate.hold() if gate.waiting else ()

    def _go_on(self, step: Generator[Step, Any, StepResult]) -> Steps:
        """Carry out what came of a token. The token itself is not kept: it may be long, and a refusal is delayed."""
        session, connection = self._session, self._session.connection
        gate = connection.gate
        outcome = yield from step
        if isinstance(outcome, Rejected):
            yield Sleep(self._authenticator.failed(connection, session.mechanism, outcome.why, outcome.user))
            return Disconnect("authentication failed")
        if not isinstance(outcome, Accepted):
            gate.answer(outcome.token)
            gate.go_on()
            return None
        gate.take_requests()
        gate.wait()
        no = yield from self._authenticator.log_in(session, outcome)
        if no is None:
            gate.answer(outcome.token)
            session.accept(outcome)
        return no

    def broker(self, token: bytes) -> None:
        """Never called: brokers take no part in this exchange."""
