"""Handled requests: from the frame of a request that somebody wants to its verdict.

Rules:
* A handler that raises refuses its request, as a broker would that failed, where there is a place for that error.
* Acks 0 has no answer: what would be answered is not (hazard 20).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

from proxy.core.decisions import Cut, Decision, Disconnect, Forward, Raw, Reply, Step
from proxy.core.failure import detached
from proxy.core.handled import Handling
from proxy.core.handling import HandlerError, Replied, failing_closed, request_steps
from proxy.core.outcome import By
from proxy.core.readers import Wanted
from proxy.core.verdict import AS_IT_CAME, Verdict, withheld
from proxy.protocol.codec import slice_decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import at_once, in_slices
from proxy.protocol.frame import Buffer
from proxy.protocol.header import response_frame, slice_response_frame
from proxy.protocol.problem import ProtocolError, TooManyElementsError
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Response
from proxy.protocol.slices import LARGE, Sliced

Judged = Decision | Replied | HandlerError | ProtocolError
Steps = Generator[Step, Any, Verdict]


class HandledRequests(Handling):
    """The requests of one link."""

    sender, kind = "client", "request"

    def handle(self, wanted: Wanted) -> Steps:
        """Read a request, show it to its handlers, and write what leaves for it."""
        wanted.ctx.is_large = len(wanted.frame) > LARGE
        judged = yield from self._judge(wanted)
        try:
            return (yield from self._carry_out(judged, wanted))
        except ProtocolError as error:
            failed = HandlerError(type(judged).__name__, error)
        return (yield from self._refuse(failed, wanted))

    def _judge(self, wanted: Wanted) -> Generator[Step, Any, Judged]:
        """What the handlers decide."""
        interest = wanted.chain.request
        assert interest is not None
        try:
            message = yield from self._read(interest, wanted)
        except ProtocolError as error:
            return (yield from self._judge_unread(wanted, detached(error)))
        self._outcomes.show(wanted.ctx, interest.observers, message)
        try:
            return (yield from request_steps(wanted.chain, wanted.ctx, message))
        except HandlerError as error:
            return detached(error)

    def _judge_unread(self, wanted: Wanted, error: ProtocolError) -> Generator[Step, Any, Judged]:
        """What becomes of a request that cannot be read, and that a broker might answer unread."""
        answering = wanted.chain.unreadable
        if answering is None or isinstance(error, TooManyElementsError):
            return error
        wanted.ctx.decided = answering.__qualname__
        try:
            return (yield from failing_closed(answering(wanted.ctx))) or error
        except HandlerError as failed:
            return detached(failed)

    def _carry_out(self, judged: Judged, wanted: Wanted) -> Steps:
        """What leaves. Raises ProtocolError for a message that cannot be written."""
        match judged:
            case None:
                return AS_IT_CAME
            case Forward():
                assert wanted.chain.request is not None
                pieces = yield from self._write(wanted.chain.request, wanted, judged.message)
                return Verdict(pieces, ends=judged.end)
            case Raw():
                return Verdict([judged.data])
            case Cut():
                return withheld(judged.reason, judged.how, [wanted.frame[: judged.after]])
            case Disconnect():
                return withheld(judged.reason, judged.how)
            case Reply():
                return (yield from self._answer(judged, wanted))
            case Replied():
                return (yield from self._answer_otherwise(judged, wanted))
            case HandlerError():
                return (yield from self._refuse(judged, wanted))
            case ProtocolError():
                return withheld(self.undecodable(wanted.chain, judged))

    def _answer(self, reply: Reply, wanted: Wanted) -> Steps:
        """A plugin answers."""
        pieces: Sequence[Buffer] = ()
        self._counters.answered += 1
        if wanted.acks != 0:
            pieces = yield from self._frame(reply, wanted)
            self._show(wanted, reply.message)
        return Verdict(pieces, By.PLUGIN, wanted.ctx.decided, reply.end)

    def _answer_otherwise(self, replied: Replied, wanted: Wanted) -> Steps:
        """A plugin answers, and another has other bytes sent for it."""
        reply, instead = replied
        self._counters.answered += 1
        if isinstance(instead, Raw):
            return Verdict([instead.data], By.PLUGIN, wanted.ctx.decided, reply.end)
        frame = b"".join((yield from self._frame(reply, wanted)))
        return Verdict([frame[: instead.after]], By.PLUGIN, wanted.ctx.decided, instead.reason, instead.how)

    def _frame(self, reply: Reply, wanted: Wanted) -> Sliced[list[Buffer]]:
        version = wanted.chain.version if reply.version is None else reply.version
        if not wanted.ctx.is_large:
            return [response_frame(reply.message, version, wanted.number)]
        return (yield from slice_response_frame(reply.message, version, wanted.number))

    def _refuse(self, error: HandlerError, wanted: Wanted) -> Steps:
        """A handler raised: answer as a broker would that failed, or end where that cannot be said."""
        why, refusal = self.failed(wanted.chain, error), self._refusal(wanted)
        with suppress(ProtocolError):
            pieces = (yield from refusal) if wanted.ctx.is_large else at_once(refusal)
            if pieces:
                return Verdict(pieces, By.PROXY, why)
        return withheld(why)

    def _refusal(self, wanted: Wanted) -> Sliced[Sequence[Buffer]]:
        """The refusal of a request; nothing where there is none. Raises ProtocolError."""
        api, version = wanted.ctx.api, wanted.ctx.version
        if wanted.acks == 0:
            return ()
        request = yield from slice_decode(api.request, version, wanted.frame, wanted.body, self._elements)
        answer = yield from in_slices(refuse, api, version, request, ErrorCode.UNKNOWN_SERVER_ERROR)
        if answer is None:
            return ()
        pieces = yield from slice_response_frame(answer, version, wanted.number)
        self._show(wanted, answer)
        return pieces

    def _show(self, wanted: Wanted, answer: Response) -> None:
        """Show an answer of ours to its observers."""
        if wanted.chain.response is not None:
            self._outcomes.show(wanted.ctx, wanted.chain.response.observers, answer)
