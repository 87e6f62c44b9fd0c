"""Link: one client connection and its upstream connection, as a state machine. Bytes in, commands out.

Rules:
* No I/O, no clock, no dice, nothing async in here or in whatever is called from here.
* Requests reach the broker, and answers the client, in the order in which they were asked.
* Whatever ends the conversation from the client's side (it closed, it sent what no broker would take, a handler said
  Disconnect) lets the answers to older requests out first. What ends it from the broker's side ends it at once.
* After `Close` the link takes no more bytes and gives no more commands.
* Other filters and limits may come into force between any two calls. A request, and its answer, ends under those by
  which it was met; what still waits to be met is met by the new ones.
* Once both connections are gone `release()` cuts every circle in which the link lies: it is freed at once, with all
  that it holds, and not when the collector comes by.

    client -> Requests  -> broker        each lane owns a Splitter and looks at what somebody wants;
    client <- Responses <- broker        InFlight is what both share

The link puts the parts together, and no part knows it.
"""

from __future__ import annotations

from typing import Any

from proxy.core.admission import Admission
from proxy.core.allowance import Allowance
from proxy.core.clock import Clock
from proxy.core.commands import Await, Command, HalfClose
from proxy.core.connection_events import ConnectionEvents
from proxy.core.context import Connection
from proxy.core.decisions import TURN, Alone, Ask, Call, Decision, Disconnect, How, Sleep, Steps, Wait
from proxy.core.events import StepsFailed
from proxy.core.filters import Filters
from proxy.core.gate import LinkGate
from proxy.core.inflight import InFlight
from proxy.core.lane import State
from proxy.core.limits import Counters, Limits
from proxy.core.outbox import Outbox
from proxy.core.outcome import Outcomes
from proxy.core.parts import Parts
from proxy.core.questions import Questions
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.steps import HandlerError, begun, caught
from proxy.core.strangers import Strangers
from proxy.core.task import WAITING, Task, WaitingTasks

NO_LIMITS_SET = Limits()
OPEN = State.OPEN
AT_ONCE = (How.RESET, How.BLACK_HOLE)


class Link:
    """One conversation. `closed` is True once it ended; `requests` and `responses` are its two lanes."""

    __slots__ = (
        "_admission",
        "_beside",
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
        self.inflight = InFlight()
        self.outbox = outbox = Outbox()
        clock = clock or Clock()
        self._outcomes = Outcomes(clock, outbox, counters)
        self._tasks = tasks = WaitingTasks()
        self._is_half_closed = False
        self._silent: str | None = None  # why: nothing is answered any more
        parts = Parts(
            connection, limits, counters, outbox, self.inflight, self._outcomes, tasks, allowance or Allowance()
        )
        self._questions = Questions(parts)
        self._admission = admission = Admission(filters)
        self.requests, self.responses = Requests(parts, admission), Responses(parts)
        self.requests.answer = self.responses.answer
        strangers, lanes = Strangers(parts, admission, self.requests), (self.requests, self.responses)
        self._events = ConnectionEvents(connection, admission, clock, outbox, counters)
        self._gate = connection.gate = LinkGate(parts, admission, *lanes, strangers, self._events, self.run)
        self.requests.stranger = self._gate.meet
        tasks.begins |= {
            Sleep: self._sleep,
            type(TURN): self._let_others,
            Call: self._call,
            Wait: self._wait,
            Ask: self._questions.ask,
            Alone: self._gate.alone,
        }
        self._beside = [steps for begin in filters.connected if (steps := begun(begin, connection)) is not None]

    @property
    def closed(self) -> bool:
        """Is the conversation over?"""
        return self.outbox.closed

    # What the network says. Each gives the commands that follow from it. `receive_` gives None where there is but one,
    # to send all of it on as it came: that is nearly always so, and nothing need be made to say it.

    def begin(self) -> list[Command]:
        """Both connections are there. Called once, before everything else."""
        commands = self.outbox.start()
        self._events.connected()
        for steps in self._beside:
            self.run(steps)
        self._beside.clear()
        self._settle()
        return commands

    def receive_client(self, data: memoryview) -> list[Command] | None:
        """Bytes from the client. They are only lent: send or copy what the commands refer to before the next call."""
        outbox, requests = self.outbox, self.requests
        if outbox.commands:
            outbox.start()
        spans = requests.feed(data)
        if len(spans) == 1 and spans[0] is data and not (requests.unsettled or outbox.commands):
            return None
        outbox.to_broker(spans)
        if requests.unsettled or requests.splitter.held is not None:
            requests.stop()
            self._settle()
        return outbox.commands

    def receive_broker(self, data: memoryview) -> list[Command] | None:
        """Bytes from the broker, lent likewise."""
        outbox, requests = self.outbox, self.requests
        if outbox.commands:
            outbox.start()
        spans = self.responses.feed(data)
        waiting = requests.unsettled or self.inflight.ours or requests.state is not OPEN
        if len(spans) == 1 and spans[0] is data and not (waiting or outbox.commands):
            return None
        outbox.to_client(spans)
        if waiting or self.responses.splitter.held is not None:
            self._settle()
        return outbox.commands

    def apply(self, filters: Filters, limits: Limits) -> list[Command]:
        """Other filters and limits are in force. `Plugin.connected` is for connections that come."""
        commands = self.outbox.start()
        if not self.closed:
            for name, joined in filters.joining.items():
                if name not in self.filters.names:
                    joined(self.connection)
            self._admission.apply(filters)
            self.requests.apply(limits)
            self.responses.apply(limits)
            self._gate.apply(limits)
            self._settle()
        return commands

    @property
    def filters(self) -> Filters:
        """Those that are in force."""
        return self._admission.filters

    def client_closed(self) -> list[Command]:
        """The client will send nothing more. It may still read, unless it left in the middle of a request."""
        commands = self.outbox.start()
        if self._silent is not None:
            self.close(self._silent)
            return commands
        self.requests.be_over()
        if self._is_half_closed or not self.requests.splitter.between:
            self.close(None)
        self._settle()
        return commands

    def broker_closed(self) -> list[Command]:
        """The broker is gone, and with it the conversation."""
        commands = self.outbox.start()
        if self._silent is not None:
            return commands
        self.close("the broker closed the connection with requests in flight" if self.inflight.slots else None)
        return commands

    def wake(self, token: int) -> list[Command]:
        """A Sleep is over, or the turn of the others."""
        return self.performed(token, None)

    def performed(self, token: int, value: object, error: Exception | None = None) -> list[Command]:
        """A Call returned a value, or raised an error."""
        commands = self.outbox.start()
        waiter = self._tasks.take(token)
        if waiter is not None:
            if error is None:
                waiter.go_on(value)
            elif isinstance(waiter, Task):
                waiter.fail(error)
            self._settle()
        return commands

    @property
    def held(self) -> int:
        """Bytes that wait in here, with what handlers make of them."""
        return self.requests.held + self.responses.held + self.inflight.held + self.connection.held

    # What goes on beside the conversation, and the steps of tasks.

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

    def _sleep(self, task: Task[Any], step: Sleep) -> bool:
        self.outbox.wake(self._tasks.token(task), step.seconds)
        return False

    def _let_others(self, task: Task[Any], step: None) -> bool:
        self.outbox.wake(self._tasks.token(task), 0)
        return False

    def _wait(self, task: Task[Any], step: Wait) -> bool:
        if step.signal.is_released:
            return True
        self.outbox.say(Await(self._tasks.token(task), step.signal))
        return False

    def _call(self, task: Task[Any], step: Call) -> bool:
        self.outbox.perform(self._tasks.token(task), step.work)
        return False

    # Ending.

    def _end(self, reason: str | None, how: How) -> None:
        """End the connection in this way."""
        if how is How.BLACK_HOLE:
            self._fall_silent(reason)
        elif how is not How.HALF_CLOSE:
            self.close(reason, reset=how is How.RESET)
        elif not self._is_half_closed:
            self._is_half_closed = True
            self.outbox.say(HalfClose())

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
        """What is unanswered gets no answer any more."""
        self.responses.end_counted()
        self.requests.end_counted()
        self._outcomes.close(why)

    def release(self, reason: str | None = None, from_client: int = 0, from_broker: int = 0) -> list[Command]:
        """Both connections are gone: hold nothing, be called no more. Only `connection` is there to be told of.

        So many bytes came from each. Gives what is still to be told.
        """
        commands = self.outbox.start()
        try:
            self.close(reason)
            self._events.closed(reason, from_client, from_broker)
        finally:
            self._tasks.begins.clear()
            self.inflight.slots.clear()
            self.connection.notes.clear()
            self.requests.splitter.close()
            self.responses.splitter.close()
            del self.requests.stranger, self.requests.answer
            del self.connection.gate, self._gate, self.requests, self.responses
        return commands

    def _drop_tasks(self) -> None:
        self._questions.drop()
        self._tasks.drop()
        self._gate.drop()

    def _settle(self) -> None:
        """Do what became possible: answers that are due, requests that were held, questions of ours, the end."""
        requests, responses = self.requests, self.responses
        if self._silent is not None:
            return
        responses.settle()
        if responses.state is State.ENDED:
            self._end(responses.reason, responses.how)
        if self.closed or self._silent is not None:
            return
        self._gate.settle()
        requests.settle()
        self._questions.settle()
        is_done = requests.settled and responses.idle
        if requests.is_over and not self.closed and (is_done or requests.how in AT_ONCE):
            self._end(requests.reason, requests.how)
