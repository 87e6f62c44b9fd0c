"""Assembly: the parts of one link put together, what runs beside its conversation, and how all of it ends.

Rules:
* Each part owns its state and knows only the parts that it is given. No part knows the link.
* A conversation is closed once, and the first reason counts. Just before, the outcome of each unanswered request is
  told. Tasks that wait are dropped.
* As a black hole the link answers nothing any more, throws away what comes, and is closed when the client leaves.
* Once both connections are gone, `release()` cuts every reference cycle of the link. So the link is freed at once, with
  all that it holds, without waiting for the garbage collector.
"""

from __future__ import annotations

from proxy.core.admission import Admission
from proxy.core.allowance import Allowance
from proxy.core.clock import Clock
from proxy.core.commands import Command
from proxy.core.connection_events import ConnectionEvents
from proxy.core.context import Connection
from proxy.core.counted_exchanges import CountedExchanges
from proxy.core.decisions import Alone, Ask, Decision, Disconnect, How, Steps
from proxy.core.events import StepsFailed
from proxy.core.filters import Filters
from proxy.core.gate import LinkGate
from proxy.core.inflight import InFlight
from proxy.core.limits import Counters, Limits
from proxy.core.outbox import Outbox
from proxy.core.outcome import Outcomes
from proxy.core.parts import Parts
from proxy.core.questions import Questions
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.steps import HandlerError, begun, caught
from proxy.core.strangers import Strangers
from proxy.core.task import WAITING, Task
from proxy.core.waiting import WaitingTasks

NO_LIMITS_SET = Limits()


class AssembledLink:
    """`Link` without the calls that the network makes. `closed` is True once the conversation ended."""

    __slots__ = (
        "_admission",
        "_beside",
        "_counted",
        "_events",
        "_gate",
        "_is_half_closed",
        "_outcomes",
        "_questions",
        "_silent",
        "_tasks",
        "connection",
        "counters",
        "inflight",
        "outbox",
        "requests",
        "responses",
    )

    def __init__(
        self,
        connection: Connection,
        filters: Filters,
        limits: Limits = NO_LIMITS_SET,
        counters: Counters | None = None,
        clock: Clock | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.connection = connection
        self.counters = counters = counters or Counters()
        self.inflight = inflight = InFlight()
        self.outbox = outbox = Outbox()
        self._outcomes = outcomes = Outcomes(clock or Clock(), outbox, counters)
        self._counted = CountedExchanges(connection, inflight, outcomes)
        self._tasks = tasks = WaitingTasks(outbox)
        self._is_half_closed = False
        self._silent: str | None = None  # why nothing is answered any more
        parts = Parts(
            connection, limits, counters, outbox, inflight, outcomes, self._counted, tasks, allowance or Allowance()
        )
        self._questions = Questions(parts)
        self._admission = admission = Admission(filters)
        self.requests, self.responses = Requests(parts, admission), Responses(parts)
        self.requests.let_out = self.responses.answer
        strangers, lanes = Strangers(parts, admission, self.requests), (self.requests, self.responses)
        self._events = ConnectionEvents(parts, admission)
        self._gate = connection.gate = LinkGate(parts, admission, *lanes, strangers, self._events, self.run)
        self.requests.stranger = self._gate.meet
        tasks.begins |= {Ask: self._questions.ask, Alone: self._gate.alone}
        self._beside = [steps for begin in filters.connected if (steps := begun(begin, connection)) is not None]

    @property
    def closed(self) -> bool:
        """Is the conversation over?"""
        return self.outbox.closed

    @property
    def filters(self) -> Filters:
        """The filters in force."""
        return self._admission.filters

    @property
    def held(self) -> int:
        """Bytes that wait in here, with what handlers make of them."""
        return self.requests.held + self.responses.held + self.inflight.held + self.connection.held

    def run(self, steps: Steps) -> None:
        """Take these steps beside the conversation."""
        result = Task(self._tasks, caught(steps), self._ran, may_ask=True).start()
        if result is not WAITING:
            self._ran(result)

    def _ran(self, result: Decision | HandlerError) -> None:
        if isinstance(result, Disconnect):
            self._end(result.reason, result.how)
        elif isinstance(result, HandlerError):
            self.counters.failed_handlers += 1
            self.outbox.emit(StepsFailed(result.handler, result.cause, result.at))
            self.close(f"{result.handler} failed")

    # Ending.

    def _end(self, reason: str | None, how: How) -> None:
        """End the connection in this way."""
        if how is How.BLACK_HOLE:
            self._fall_silent(reason)
        elif how is not How.HALF_CLOSE:
            self.close(reason, reset=how is How.RESET)
        elif not self._is_half_closed:
            self._is_half_closed = True
            self.outbox.half_close()

    def _fall_silent(self, reason: str | None) -> None:
        """Answer nothing any more, and throw away what comes, until the client leaves."""
        if self._silent is not None or self.closed:
            return
        self._silent = reason or "the connection is a black hole"
        self._end_open(self._silent)
        self._drop_tasks()
        self.inflight.clear()
        self.requests.unsettled = False
        self.requests.fall_silent()
        self.responses.fall_silent()

    def close(self, reason: str | None, *, reset: bool = False) -> None:
        """Close now."""
        if self.closed:
            return
        self._end_open(reason or "the client closed the connection")
        self.outbox.close(reason, reset=reset)
        self._drop_tasks()

    def _end_open(self, why: str) -> None:
        """Tell that the unanswered requests get no answer any more."""
        self.responses.end_counted()
        self._counted.reopen_all()
        self._outcomes.close(why)

    def release(self, reason: str | None = None, from_client: int = 0, from_broker: int = 0) -> list[Command]:
        """Both connections are gone: drop everything. Only `connection` stays usable; call nothing afterwards.

        So many bytes came from each side. Returns the commands that are still to be carried out: events.
        """
        commands = self.outbox.start()
        try:
            self.close(reason)
            self._events.closed(reason, from_client, from_broker)
        finally:
            self._tasks.begins.clear()
            self.inflight.clear()
            self.connection.notes.clear()
            self.connection.samples.clear()
            self.requests.splitter.close()
            self.responses.splitter.close()
            del self.requests.stranger, self.requests.let_out
            del self.connection.gate, self._gate, self.requests, self.responses
        return commands

    def _drop_tasks(self) -> None:
        self._questions.drop()
        self._tasks.drop()
        self._gate.drop()
