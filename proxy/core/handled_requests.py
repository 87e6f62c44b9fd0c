"""Handled requests: from the frame of a request that a plugin wants to its verdict.

Rules:
* If a handler raises, its request is refused, as by a broker that failed, if the answer has a place for that error.
* A Produce request with acks 0 has no answer: an answer to it is not sent (hazard 20).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from types import GeneratorType
from typing import Any

from proxy.core.decisions import Disconnect, Forward, How, Reply, Step
from proxy.core.failure import FAILURES, detached, name_of
from proxy.core.handled import Handling
from proxy.core.handling import Decided, Manner, handling_steps
from proxy.core.leaving import Leaving
from proxy.core.outcome import By
from proxy.core.sent_as import request_in
from proxy.core.steps import HandlerError
from proxy.core.verdict import AS_IT_CAME, Verdict, VerdictSteps, withheld
from proxy.core.wanted import Wanted
from proxy.protocol.api import PRODUCE
from proxy.protocol.codec import slice_decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import in_slices
from proxy.protocol.frame import Buffer
from proxy.protocol.header import response_frame, slice_response_frame
from proxy.protocol.problem import ProtocolError, TooManyElementsError
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Response
from proxy.protocol.slices import Sliced

Judged = Decided | ProtocolError  # the request cannot be read


class HandledRequests(Handling):
    """The requests of one link."""

    sender, kind = "client", "request"

    def handle(self, wanted: Wanted) -> VerdictSteps:
        """Read a request, show it to its handlers, and write what is sent for it."""
        wanted.ctx.is_large = wanted.is_large
        try:
            judged = yield from self._judge(wanted)
            if isinstance(judged, ProtocolError):
                return withheld(self.undecodable(wanted.chain, judged))
            return (yield from self._carry_out(judged, wanted))
        except HandlerError as error:
            failed = detached(error)
        except ProtocolError as error:
            failed = HandlerError(wanted.ctx.decided_by("Forward", "Reply"), error)
        return (yield from self._refuse(failed, wanted))

    def _judge(self, wanted: Wanted) -> Generator[Step, Any, Judged]:
        """The decision of the handlers. Raises HandlerError."""
        interest = wanted.chain.shown if wanted.passes else wanted.chain.request
        assert interest is not None
        try:
            is_large = wanted.ctx.is_large
            message = (yield from self._slice_read(interest, wanted)) if is_large else self._read(interest, wanted)
        except ProtocolError as error:
            return (yield from self._judge_unread(wanted, detached(error)))
        if interest.observers:
            yield from self._outcomes.show(wanted.ctx, interest.observers, message)
            wanted.noted = frozenset(wanted.ctx.notes)
        if wanted.passes:
            return Decided(None)
        return (yield from handling_steps(interest.handlers, wanted.chain, wanted.ctx, message))

    def _judge_unread(self, wanted: Wanted, error: ProtocolError) -> Generator[Step, Any, Judged]:
        """The decision on a request that cannot be read, but that a broker might answer all the same, likewise."""
        answering = wanted.chain.unreadable
        if answering is None or isinstance(error, TooManyElementsError):
            return error
        try:
            steps = answering(wanted.ctx)
            decision: object = (yield from steps) if isinstance(steps, GeneratorType) else steps
        except FAILURES as failed:
            raise HandlerError(name_of(answering), failed) from None
        if not isinstance(decision, Reply | Disconnect):
            return error
        wanted.ctx.decide(name_of(answering), type(decision).__name__)
        return Decided(decision)

    def _carry_out(self, judged: Decided, wanted: Wanted) -> VerdictSteps:
        """Write what is sent. Raises HandlerError, and ProtocolError for a message that cannot be written."""
        decision, manners = judged
        verdict = AS_IT_CAME
        match decision:
            case Disconnect():
                return withheld(decision.reason, decision.how)
            case Reply():
                return (yield from self._answer(decision, manners, wanted))
            case Forward():
                verdict = yield from self._forward(decision, wanted)
        if manners:
            verdict, leaving = self._leaving(verdict, manners, wanted)
            yield from leaving.steps(self._outbox.part_to_broker)
            return verdict._replace(pieces=[leaving.data])
        if verdict.copies > 1:
            return verdict._replace(pieces=list(verdict.pieces or ()) * verdict.copies)
        return verdict

    def _forward(self, forward: Forward, wanted: Wanted) -> VerdictSteps:
        """A request goes on changed, or in another version."""
        chain, version = wanted.chain, forward.version
        assert chain.request is not None
        acks = forward.message.acks if chain.api is PRODUCE and forward.message.has("acks") else wanted.acks
        if (acks == 0) is not (wanted.acks == 0):
            error = ValueError("whether a Produce request has an answer cannot be changed")
            raise HandlerError(wanted.ctx.decided_by("Forward"), error)
        if version is None or version == chain.version:
            version = None
            if wanted.ctx.is_large:
                pieces = yield from self._slice_write(chain.request, wanted, forward.message)
            else:
                pieces = self._write(chain.request, wanted, forward.message)
        else:
            pieces = yield from self._paced(wanted, request_in(version, forward.message, wanted, self.elements))
        return Verdict(pieces, ends=forward.end, version=version, copies=forward.copies)

    def _answer(self, reply: Reply, manners: Sequence[Manner], wanted: Wanted) -> VerdictSteps:
        """A plugin answers."""
        by, why = By.PLUGIN, wanted.ctx.decided_by("Reply")
        pieces: Sequence[Buffer] = ()
        if wanted.acks != 0:
            pieces = yield from self._frame(reply, wanted)
            if manners:
                leaving = Leaving(pieces, manners)
                if leaving.is_intact:
                    yield from self._show(wanted, reply.message)
                ends, how = reply.end, How.CLOSE
                if leaving.cut is not None:
                    by, why = By.NOBODY, leaving.cut.reason
                    ends, how = leaving.cut.reason, leaving.cut.how
                elif not leaving.size:
                    by, why = By.NOBODY, wanted.ctx.decided_by("Raw")
                steps = leaving if leaving.takes_time else None
                return Verdict([leaving.data], by, why, ends, how, leaving=steps)
            yield from self._show(wanted, reply.message)
        return Verdict(pieces, by, why, reply.end)

    def _frame(self, reply: Reply, wanted: Wanted) -> Sliced[list[Buffer]]:
        version = wanted.chain.version if reply.version is None else reply.version
        if not wanted.ctx.is_large:
            return [response_frame(reply.message, version, wanted.number)]
        return (yield from slice_response_frame(reply.message, version, wanted.number))

    def _refuse(self, error: HandlerError, wanted: Wanted) -> VerdictSteps:
        """A handler raised: answer as a broker that failed, or end the conversation if no answer can say so."""
        why = self.failed(wanted.ctx, error)
        with suppress(ProtocolError):
            pieces = yield from self._paced(wanted, self._refusal(wanted))
            if pieces:
                return Verdict(pieces, By.PROXY, why)
        return withheld(why)

    def _refusal(self, wanted: Wanted) -> Sliced[Sequence[Buffer]]:
        """The refusal of a request; nothing if the request has no answer. Raises ProtocolError."""
        api, version = wanted.ctx.api, wanted.ctx.version
        if wanted.acks == 0:
            return ()
        request = yield from slice_decode(api.request, version, wanted.frame, wanted.body, self.elements)
        answer = yield from in_slices(refuse, api, version, request, ErrorCode.UNKNOWN_SERVER_ERROR)
        if answer is None:
            return ()
        pieces = yield from slice_response_frame(answer, version, wanted.number)
        yield from self._show(wanted, answer)
        return pieces

    def _show(self, wanted: Wanted, answer: Response) -> Sliced[None]:
        """Show an answer of ours to its observers."""
        if wanted.chain.response is not None:
            yield from self._outcomes.show(wanted.ctx, wanted.chain.response.observers, answer)
