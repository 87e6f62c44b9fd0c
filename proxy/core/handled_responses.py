"""Handled responses: from the frame of a response that somebody wants to its verdict.

Rules:
* What cannot be read, and what a handler raised on, is withheld.
* Observers are shown a response as it leaves: after the handlers, and read anew where these changed and sent nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from proxy.core.decisions import Cut, Decision, Disconnect, Forward, Raw, Step
from proxy.core.failure import detached
from proxy.core.handled import Handling
from proxy.core.handling import HandlerError, response_steps
from proxy.core.interest import Interest
from proxy.core.limits import Limits
from proxy.core.readers import Wanted
from proxy.core.verdict import AS_IT_CAME, Verdict, withheld
from proxy.protocol.problem import ProtocolError
from proxy.protocol.slices import LARGE


class HandledResponses(Handling):
    """The responses of one link."""

    sender, kind = "broker", "response"

    def _most(self, limits: Limits) -> int:
        return limits.elements_of_response

    def handle(self, wanted: Wanted) -> Generator[Step, Any, Verdict]:
        """Read a response, show it to its handlers, and write what leaves for it."""
        interest = wanted.chain.response
        assert interest is not None
        wanted.ctx.is_large = wanted.ctx.is_large or len(wanted.frame) > LARGE
        try:
            message = yield from self._read(interest, wanted)
        except ProtocolError as error:
            return withheld(self.undecodable(wanted.chain, error))
        try:
            decision = yield from response_steps(interest.handlers, wanted.ctx, message)
            if decision is None and interest.observers:
                message = (yield from self._read(interest, wanted)) if interest.handlers else message
                self._outcomes.show(wanted.ctx, interest.observers, message)
            return (yield from self._carry_out(decision, interest, wanted))
        except HandlerError as error:
            failed = detached(error)
        except ProtocolError as error:
            failed = HandlerError("Forward", error)
        return withheld(self.failed(wanted.chain, failed))

    def _carry_out(self, decision: Decision, interest: Interest, wanted: Wanted) -> Generator[Step, Any, Verdict]:
        """What leaves. Raises ProtocolError for a message that cannot be written."""
        match decision:
            case Forward():
                pieces = yield from self._write(interest, wanted, decision.message)
                self._outcomes.show(wanted.ctx, interest.observers, decision.message)
                return Verdict(pieces)
            case Raw():
                return Verdict([decision.data])
            case Cut():
                return withheld(decision.reason, decision.how, [wanted.frame[: decision.after]])
            case Disconnect():
                return withheld(decision.reason, decision.how)
            case _:
                return AS_IT_CAME
