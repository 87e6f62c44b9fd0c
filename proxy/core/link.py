"""Link: one client connection and its upstream connection, as a state machine. Bytes in, commands out.

Rules:
* Neither this module nor anything that it calls does I/O, asks a clock, throws dice or is async.
* Requests reach the broker, and answers reach the client, in the order in which the client asked.
* When the conversation ends from the client's side (the client closed, it sent something that no broker accepts, a
  handler said Disconnect), the answers to older requests leave first. An end from the broker's side ends it at once.
* After `Close` the link takes no more bytes and gives no more commands.
* New filters and limits may come into force between any two calls. A request and its answer keep those that were in
  force when the request was met; a request that was not met yet, or is still assembled, gets the new ones.

    client -> Requests  -> broker        each lane owns a Splitter and reads the frames that plugins want;
    client <- Responses <- broker        both share InFlight

The parts are put together in `assembly.py`, and none of them knows the link.
"""

from __future__ import annotations

from proxy.core.assembly import AssembledLink
from proxy.core.commands import Command
from proxy.core.decisions import How
from proxy.core.failure import AnyFailure
from proxy.core.filters import Filters
from proxy.core.lane import State
from proxy.core.limits import Limits
from proxy.core.steps import begun
from proxy.core.task import Task

OPEN = State.OPEN
AT_ONCE = (How.RESET, How.BLACK_HOLE)


class Link(AssembledLink):
    """One conversation. `requests` and `responses` are its two lanes.

    Each call returns the commands that follow from it. `receive_client` and `receive_broker` return None if the only
    command is to send all bytes on as they came: that is nearly always so, and no object is made for it.
    """

    __slots__ = ()

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
        spans = requests.splitter.feed(data)
        if spans is None:
            if not (requests.unsettled or outbox.commands):
                return None
            spans = [data]
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
        spans = self.responses.splitter.feed(data)
        waiting = requests.unsettled or self.inflight.ours or requests.state is not OPEN
        if spans is None:
            if not (waiting or outbox.commands):
                return None
            spans = [data]
        outbox.to_client(spans)
        if waiting or self.responses.splitter.held is not None:
            self._settle()
        return outbox.commands

    def apply(self, filters: Filters, limits: Limits) -> list[Command]:
        """Put other filters and limits in force. `Plugin.connected` is for new connections, and is not called."""
        commands = self.outbox.start()
        if not self.closed:
            for name, joined in filters.joining.items():
                if name not in self.filters.names and (failing := begun(joined, self.connection)) is not None:
                    self.run(failing)
            self._admission.apply(filters)
            self._counted.apply()
            self.requests.apply(limits)
            self.responses.apply(limits)
            self._gate.apply(limits)
            self._settle()
        return commands

    def forget(self) -> None:
        """Something that plugins decide by has changed: ask them anew how passing requests begin."""
        self.requests.forget()

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
        """A Sleep is over, a signal is released, or the other connections had their turn."""
        return self.performed(token, None)

    def performed(self, token: int, value: object, error: AnyFailure | None = None) -> list[Command]:
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

    def _settle(self) -> None:
        """Do what became possible: answers that are due, requests that were held, questions of ours, the end."""
        requests, responses, outbox = self.requests, self.responses, self.outbox
        if self._silent is not None:
            return
        responses.settle()
        if responses.state is State.ENDED:
            self._end(responses.reason, responses.how)
        if outbox.closed or self._silent is not None:
            return
        self._gate.settle()
        requests.settle()
        self._questions.settle()
        if not requests.is_over or outbox.closed:
            return
        if requests.how in AT_ONCE or (requests.is_done and responses.idle):
            self._end(requests.reason, requests.how)
