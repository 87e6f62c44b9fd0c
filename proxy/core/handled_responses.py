"""Handled responses: from the frame of a response that a plugin wants to its verdict.

Rules:
* A response that cannot be read, or on which a handler raised, is withheld.
* Observers are shown a response as it leaves, after the handlers. If no handler decided to `Forward`, it is read anew,
  since a handler may have modified the message.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from proxy.core.decisions import Disconnect, Forward, Step
from proxy.core.failure import detached
from proxy.core.handled import Handling
from proxy.core.handling import Decided, handling_steps
from proxy.core.limits import Limits
from proxy.core.outcome import By
from proxy.core.repeated import RepeatedAnswer
from proxy.core.sent_as import answer_to_client, read_answer
from proxy.core.steps import HandlerError
from proxy.core.verdict import AS_IT_CAME, Verdict, VerdictSteps, withheld
from proxy.core.wanted import Wanted
from proxy.protocol.frame import Buffer
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message
from proxy.protocol.slices import Sliced


class HandledResponses(Handling):
    """The responses of one link."""

    sender, kind = "broker", "response"

    def _most(self, limits: Limits) -> int:
        return limits.elements_of_response

    def handle(self, wanted: Wanted) -> VerdictSteps:
        """Read a response, show it to its handlers, and write what is sent for it."""
        wanted.ctx.is_large = wanted.ctx.is_large or wanted.is_large
        interest, edition = wanted.chain.response, wanted.ctx.topology.edition
        try:
            if interest is not None and wanted.is_plain:
                message = self._read(interest, wanted)
            else:
                message = yield from self._read_answer(wanted)
        except ProtocolError as error:
            return withheld(self.undecodable(wanted.chain, error))
        try:
            handlers = interest.handlers if interest else ()
            decided = yield from handling_steps(handlers, wanted.chain, wanted.ctx, message)
            verdict = yield from self._carry_out(decided, message, wanted)
            if wanted.chain.repeated is not None and wanted.version is None:
                self._learn(wanted.chain.repeated, decided, verdict, wanted, edition)
            return verdict
        except HandlerError as error:
            failed = detached(error)
        except ProtocolError as error:
            failed = HandlerError(wanted.ctx.decided_by("Forward", "Reply"), error)
        return withheld(self.failed(wanted.ctx, failed))

    def _read_answer(self, wanted: Wanted) -> Sliced[Message]:
        """Read a response of any kind."""
        if wanted.version is not None:
            return (yield from self._paced(wanted, read_answer(wanted.version, wanted, self.elements)))
        interest = wanted.chain.response
        assert interest is not None
        if wanted.is_plain:
            return self._read(interest, wanted)
        return (yield from self._slice_read(interest, wanted))

    def _write_answer(self, message: Message, wanted: Wanted) -> Sliced[Sequence[Buffer]]:
        """Write a response that is not plain."""
        if wanted.version is not None:
            return (yield from self._paced(wanted, answer_to_client(message, wanted)))
        interest = wanted.chain.response
        assert interest is not None
        return (yield from self._slice_write(interest, wanted, message))

    def _carry_out(self, decided: Decided, message: Message, wanted: Wanted) -> VerdictSteps:
        """Write what is sent. Raises HandlerError, and ProtocolError for a message that cannot be written."""
        decision, manners = decided
        verdict, interest = AS_IT_CAME, wanted.chain.response
        if isinstance(decision, Disconnect):
            return withheld(decision.reason, decision.how)
        if isinstance(decision, Forward):
            message = decision.message
        elif interest and interest.handlers and (interest.observers or wanted.version is not None):
            message = yield from self._read_answer(wanted)  # handlers may have modified the message
        if interest is not None and wanted.is_plain:
            if isinstance(decision, Forward):
                verdict = Verdict(self._write(interest, wanted, message))
        elif isinstance(decision, Forward) or wanted.version is not None:
            verdict = Verdict((yield from self._write_answer(message, wanted)))
        leaving = None
        if manners:
            verdict, leaving = self._leaving(verdict, manners, wanted)
        if interest is not None and interest.observers and (leaving is None or leaving.is_intact):
            yield from self._outcomes.show(wanted.ctx, interest.observers, message)
        if wanted.chain.observers.holders:
            yield from self._before(verdict, wanted)
        if leaving is None:
            return verdict
        yield from leaving.steps(self._outbox.to_client)
        return verdict._replace(pieces=[leaving.data], leaving=leaving)

    def _learn(
        self, repeated: RepeatedAnswer, decided: Decided, verdict: Verdict, wanted: Wanted, edition: object
    ) -> None:
        """The next responses that begin like this one need not be read, if its handler says so."""
        decision = decided.decision
        if not isinstance(decision, Forward) or not decision.repeats or decided.manners or verdict.pieces is None:
            return
        if decision.message.has("opaque"):  # what was not read is sent as it came
            repeated.learn(wanted.frame, wanted.body, verdict.pieces, edition)

    def _before(self, verdict: Verdict, wanted: Wanted) -> Generator[Step, Any, None]:
        """Take the steps of the plugins that hold back answers, unless nothing leaves. Raises HandlerError."""
        size = len(wanted.frame) if verdict.pieces is None else sum(map(len, verdict.pieces))
        by = By.BROKER if verdict.whole else By.NOBODY
        steps = self._outcomes.before(wanted.ctx, by, verdict.ends, size) if size else None
        if steps is not None:
            yield from steps
