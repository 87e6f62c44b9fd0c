"""Outcome: what became of one request of a client, told once to the observers of its API.

    came        the request's head was read from the client
    sent        it went to the broker; one that passes unread goes as it comes, so this is when it began to go
    answered    the broker's answer began, or the proxy made one
    left        the last of the answer went to the client

Rules:
* A request that is observed is open from `begin` until `end`, and ends exactly once: by an answer, or without one.
* A request that is open when the link closes ends then, and its outcome says why.
* An observer changes nothing. An observer that raises is counted and reported, and stops nothing. So is one that
  returns something: it may have been meant as a decision, which nobody would carry out.
* Any answer leaves only after the steps of the plugins that take some before it (`@before_answer`). They are told the
  outcome as it will be. If one of them raises, the answer does not leave and the connection ends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from enum import Enum
from typing import Any, NamedTuple

from proxy.core.clock import Clock
from proxy.core.context import Context, HandlerDecided
from proxy.core.counting import CountedExchange
from proxy.core.decisions import Step, Steps
from proxy.core.events import ObserverFailed
from proxy.core.failure import FAILURES, AnyFailure, detached, name_of, raised_at
from proxy.core.limits import Counters
from proxy.core.outbox import Outbox
from proxy.core.request_topics import Topics
from proxy.core.steps import before_steps
from proxy.protocol.api import Api
from proxy.protocol.fiber import in_slices
from proxy.protocol.schema import Message
from proxy.protocol.slices import Sliced


class By(Enum):
    """Who answered a request."""

    BROKER = "broker"
    PLUGIN = "plugin"
    PROXY = "proxy"
    NOBODY = "nobody"


class Outcome(NamedTuple):
    """What became of a request. Times are in seconds of the link's clock; None: it never happened.

    A request whose last byte was withheld, because the rules had changed by then, was `sent` but for that byte.

    `why` says which handler answered or ended it, or what else kept it from its answer; None if a broker answered.
    Sizes are in bytes of whole frames. `decisions` are those of all handlers that decided something about the request
    or its answer, in their order: what each decided (`Forward`, `Reply`, ...), or that it "failed".
    """

    by: By
    why: str | None
    came: float
    sent: float | None
    answered: float | None
    left: float | None
    request_bytes: int
    response_bytes: int
    decisions: tuple[HandlerDecided, ...] = ()


BROKER, NOBODY = By.BROKER, By.NOBODY  # looking up a member of an Enum takes 0.1 us
Observer = Callable[[Context, Outcome], object]
Holder = Callable[[Context, Outcome], "Steps | None"]
Showing = Callable[[Context, Any], object]  # is given a message, or the topics of one


class ObserverReturnedError(TypeError):
    """An observer returned something: it decides nothing, and takes no steps."""

    def __init__(self, returned: object) -> None:
        super().__init__(f"{returned!r}: an observer decides nothing, and takes no steps")


class Observers(tuple[Observer, ...]):
    """The methods that are told a request's outcome; `holders` hold back its answer; `lease` is their filters'."""

    lease: object = None
    holders: tuple[Holder, ...] = ()


class Outcomes:
    """The requests of one link that are observed and have not ended."""

    __slots__ = ("_counters", "_open", "_outbox", "clock")

    def __init__(self, clock: Clock, outbox: Outbox, counters: Counters) -> None:
        self.clock = clock
        self._outbox = outbox
        self._counters = counters
        self._open: dict[Context, Observers] = {}

    def begin(self, ctx: Context, observers: Observers) -> None:
        """A request came."""
        ctx.came = self.clock.now
        self._open[ctx] = observers

    def forget(self, ctx: Context) -> None:
        """This request is met, and begun, once more later."""
        self._open.pop(ctx, None)

    def reopen(
        self, ctx: Context, observers: Observers, exchange: CountedExchange, resume: Callable[[Context, Any], None]
    ) -> Context:
        """A request that was to be counted is observed after all, by this context."""
        ctx.came = ctx.sent = exchange.came
        self._open[ctx] = observers
        try:
            resume(ctx, exchange)
        except FAILURES as error:
            self.failed(resume, ctx.api, ctx.version, error)
        return ctx

    def sent(self, ctx: Context) -> None:
        """The request goes to the broker."""
        ctx.sent = self.clock.now

    def answered(self, ctx: Context) -> None:
        """The answer to this request began."""
        if ctx.answered is None:
            ctx.answered = self.clock.now

    def before(self, ctx: Context, by: By, why: str | None, size: int) -> Generator[Step, Any, None] | None:
        """The steps before the answer, of `size` bytes, leaves; None: there are none. They raise HandlerError."""
        observers = self._open.get(ctx)
        if observers is None or not observers.holders:
            return None
        return before_steps(observers.holders, ctx, self._outcome(ctx, by, why, None, size))

    def end(self, ctx: Context, by: By, why: str | None = None, size: int = 0) -> None:
        """The request has its answer, of so many bytes, or gets none."""
        observers = self._open.pop(ctx, None)
        if observers is None:
            return  # nobody observes it
        outcome = self._outcome(ctx, by, why, None if by is NOBODY else self.clock.now, size)
        for observer in observers:
            try:
                if (returned := observer(ctx, outcome)) is not None:
                    raise ObserverReturnedError(returned)
            except FAILURES as error:
                self.failed(observer, ctx.api, ctx.version, error)

    def _outcome(self, ctx: Context, by: By, why: str | None, left: float | None, size: int) -> Outcome:
        answered = left if ctx.answered is None else ctx.answered
        if by is NOBODY:  # an answer that was cut, or dropped, is none
            answered, size = None, 0
        assert ctx.came is not None
        return Outcome(by, why, ctx.came, ctx.sent, answered, left, ctx.request_bytes, size, ctx.decisions)

    def show(self, ctx: Context, observers: Iterable[Showing], message: Message) -> Sliced[None]:
        """Show a message to the observers that want it; a large one in slices."""
        if not ctx.is_large:
            return self.show_at_once(ctx, observers, message)
        for observer in observers:
            try:
                if (returned := (yield from in_slices(observer, ctx, message))) is not None:
                    raise ObserverReturnedError(returned)
            except FAILURES as error:
                self.failed(observer, ctx.api, ctx.version, error)
        return None

    def show_at_once(self, ctx: Context, observers: Iterable[Showing], message: Message | Topics) -> None:
        """The same for a small message."""
        for observer in observers:
            try:
                if (returned := observer(ctx, message)) is not None:
                    raise ObserverReturnedError(returned)
            except FAILURES as error:
                self.failed(observer, ctx.api, ctx.version, error)

    def close(self, why: str) -> None:
        """The link is closed: the open requests get no answer any more."""
        for ctx in tuple(self._open):
            self.end(ctx, NOBODY, why)

    def failed(self, observer: object, api: Api | None, version: int, error: AnyFailure) -> None:
        """An observer raised. `api` None: it was told of an event."""
        self._counters.failed_observers += 1
        at = raised_at(error, observer)
        self._outbox.emit(ObserverFailed(name_of(observer), api, version, detached(error), at))
