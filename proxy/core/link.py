"""Link: one client connection and its upstream connection, as a state machine. Bytes in, commands out.

Rules:
* No I/O, no clock, no dice, nothing async in here or in whatever is called from here.
* Requests reach the broker, and answers the client, in the order in which they were asked.
* Whatever ends the conversation from the client's side (it closed, it sent what no broker would take, a handler said
  Disconnect) lets the answers to older requests out first. What ends it from the broker's side ends it at once.
* After `Close` the link takes no more bytes and gives no more commands.
* Once both connections are gone `release()` cuts every circle in which the link lies: it is freed at once, with all
  that it holds, and not when the collector comes by.

    client -> Requests  -> broker        each lane owns a Splitter and looks at what somebody wants;
    client <- Responses <- broker        InFlight is what both share
"""

from __future__ import annotations

from proxy.core.commands import Close, Command, Emit, ToBroker, ToClient
from proxy.core.context import Connection
from proxy.core.decisions import Ask, Disconnect, Steps
from proxy.core.events import Event, StepsFailed
from proxy.core.gate import Gate
from proxy.core.inflight import InFlight
from proxy.core.limits import Counters, Limits
from proxy.core.pipeline import HandlerError, begun, failing_closed
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.route import Routes
from proxy.core.run import WAITING, Outcome, Question, Run, newest_common
from proxy.protocol.frame import Buffer
from proxy.protocol.header import request_frame

NO_LIMITS_SET = Limits()


class Link:
    """One conversation. `closed` is True once it ended; `requests` and `responses` are its two lanes."""

    __slots__ = (
        "_asks",
        "_beside",
        "_ending",
        "_reason",
        "_tokens",
        "_waiting",
        "closed",
        "commands",
        "connection",
        "counters",
        "gate",
        "inflight",
        "limits",
        "requests",
        "responses",
        "routes",
    )

    def __init__(
        self,
        connection: Connection,
        routes: Routes,
        limits: Limits = NO_LIMITS_SET,
        counters: Counters | None = None,
    ) -> None:
        self.connection = connection
        self.routes = routes
        self.limits = limits
        self.counters = counters or Counters()
        self.inflight = InFlight()
        self.commands: list[Command] = []
        self.requests = Requests(self)
        self.responses = Responses(self)
        self.closed = False
        self._ending = False  # nothing more comes from the client
        self._reason: str | None = None
        self._asks: list[Buffer] = []  # questions of ours that leave behind what was read so far
        self._waiting: dict[int, Run] = {}
        self._tokens = 0
        self.gate = connection.gate = Gate(self)
        self._beside = [steps for begin in routes.connected if (steps := begun(begin, connection)) is not None]

    # What the network says. Each gives the commands that follow from it. `receive_` gives None where there is but one,
    # to send all of it on as it came: that is nearly always so, and nothing need be made to say it.

    def begin(self) -> list[Command]:
        """Both connections are there. Called once, before everything else."""
        commands = self.commands = []
        for steps in self._beside:
            self.run(steps)
        self._beside.clear()
        self._settle()
        return commands

    def receive_client(self, data: memoryview) -> list[Command] | None:
        """Bytes from the client. They are only lent: send or copy what the commands refer to before the next call."""
        if self.commands:
            self.commands = []
        spans = self.requests.feed(data)
        if len(spans) == 1 and spans[0] is data and not (self._ending or self.commands):
            return None
        self.to_broker(spans)
        if self.requests.splitter.held is not None:
            self.requests.hold()
            self._settle()
        elif self._ending:
            self._settle()
        return self.commands

    def receive_broker(self, data: memoryview) -> list[Command] | None:
        """Bytes from the broker, lent likewise."""
        if self.commands:
            self.commands = []
        spans = self.responses.feed(data)
        waiting = self._ending or self.inflight.ours or self.requests.full
        if len(spans) == 1 and spans[0] is data and not (waiting or self.commands):
            return None
        self.to_client(spans)
        if waiting or self.responses.splitter.held is not None:
            self._settle()
        return self.commands

    def client_closed(self) -> list[Command]:
        """The client will send nothing more. It may still read, unless it left in the middle of a request."""
        self.commands = []
        self._ending = True
        if not self.requests.splitter.between:
            self.close(None)
        self._settle()
        return self.commands

    def broker_closed(self) -> list[Command]:
        """The broker is gone, and with it the conversation."""
        self.commands = []
        self.close("the broker closed the connection with requests in flight" if self.inflight.slots else None)
        return self.commands

    def wake(self, token: int) -> list[Command]:
        """A Sleep is over."""
        self.commands = []
        run = self._waiting.pop(token, None)
        if run is not None:
            run.go_on(None)
            self._settle()
        return self.commands

    def performed(self, token: int, value: object, error: Exception | None = None) -> list[Command]:
        """A Call returned a value, or raised an error."""
        self.commands = []
        run = self._waiting.pop(token, None)
        if run is not None:
            if error is None:
                run.go_on(value)
            else:
                run.fail(error)
            self._settle()
        return self.commands

    @property
    def held(self) -> int:
        """Bytes that wait in here, with what handlers make of them."""
        return self.requests.held + self.responses.held + self.inflight.held

    # What the lanes say.

    def emit(self, event: Event) -> None:
        """Tell those who watch."""
        self.commands.append(Emit(event))

    def to_broker(self, spans: list[Buffer]) -> None:
        """Send these."""
        self.commands += map(ToBroker, spans)

    def to_client(self, spans: list[Buffer]) -> None:
        """Send these."""
        self.commands += map(ToClient, spans)

    def answer(self, *pieces: Buffer) -> None:
        """An answer of ours to the youngest request: it leaves when all older ones have."""
        if self.inflight.slots or not self.responses.idle:
            for piece in pieces:
                self.inflight.settle(piece)
        else:
            self.commands += map(ToClient, pieces)

    def run(self, steps: Steps) -> None:
        """Take these steps beside the conversation."""
        outcome = Run(self, failing_closed(steps), self._ran, may_ask=True).start()
        if outcome is not WAITING:
            self._ran(outcome)

    def _ran(self, outcome: Outcome) -> None:
        if isinstance(outcome, Disconnect):
            self.close(outcome.reason)
        elif isinstance(outcome, HandlerError):
            self.counters.failed_handlers += 1
            self.emit(StepsFailed(outcome.handler, outcome.cause, outcome.at))
            self.close(f"{outcome.handler} failed")

    def token(self, run: Run) -> int:
        """A token for `wake()` or `performed()`, at which this run goes on."""
        self._tokens += 1
        self._waiting[self._tokens] = run
        return self._tokens

    def ask(self, run: Run, ask: Ask) -> None:
        """A question of ours: it leaves behind older requests, and its answer goes to `run`. Raises ProtocolError."""
        if not run.may_ask:
            raise TypeError("a response handler cannot Ask: the answer would have to overtake the response that waits")
        version = newest_common(ask, self.connection.broker_versions.get(ask.request.api.key))
        self._asks.append(request_frame(ask.request, version, 0, self.connection.client_id))
        self.inflight.slots.append((0, Question(run, ask, version), None))

    def end(self, reason: str | None) -> None:
        """Take nothing more from the client, and close when all is answered."""
        self._ending = True
        self._reason = self._reason or reason

    def close(self, reason: str | None) -> None:
        """Close now."""
        if self.closed:
            return
        self.closed = True
        self.commands.append(Close(reason))
        self._drop_runs()

    def release(self) -> None:
        """Both connections are gone: hold nothing, be called no more. Only `connection` is there to be told of."""
        self.closed = True
        try:
            self._drop_runs()
        finally:
            self.requests.splitter.close()
            self.responses.splitter.close()
            self.inflight.slots.clear()
            self.connection.notes.clear()
            del self.connection.gate, self.gate, self.requests, self.responses, self.commands, self._asks

    def _drop_runs(self) -> None:
        asking = [slot[1].run for slot in self.inflight.slots if isinstance(slot[1], Question)]
        runs = [*self._waiting.values(), *asking]
        self._waiting.clear()
        for run in runs:
            run.drop()
        self.gate.drop()

    def _settle(self) -> None:
        """Do what became possible: answers that are due, requests that were held, questions of ours, the end."""
        self.responses.settle()
        self.requests.settle()
        if self._asks:
            self.to_broker(self._asks)
            self._asks = []
        if self._ending and not self.closed and self.requests.settled and self.responses.idle:
            self.close(self._reason)
