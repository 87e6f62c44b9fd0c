"""Filter chain: who looks at the requests and responses of one API in one version.

Rules:
* A chain never changes in what it does once it is built; a new configuration has new ones. A request keeps its chain
  until it is answered, so it ends under the rules with which it began.
* Everything under way holds the lease of the filters under which it began, and nothing else does. So replaced filters
  are no longer in use once nobody holds their lease.
* Of a Produce request `acks` is always read: with acks 0 there is no answer to wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proxy.core.context import Context
from proxy.core.decisions import Steps
from proxy.core.failure import FAILURES
from proxy.core.fast_path import joint
from proxy.core.frame_facts import FrameFacts
from proxy.core.interest import Interest
from proxy.core.outcome import Observers
from proxy.core.repeated import RepeatedAnswer
from proxy.protocol import messages as _messages  # noqa: F401 (each api learns its classes)
from proxy.protocol.api import FETCH, JOIN_GROUP, PRODUCE, SHARE_FETCH, SYNC_GROUP, Api
from proxy.protocol.tail import ends_in_tags

NO_OBSERVERS = Observers()
LATE = frozenset({FETCH, SHARE_FETCH, JOIN_GROUP, SYNC_GROUP})  # a client can have each of these wait for minutes


class Lease:
    """Held by everything that still uses some filters."""

    __slots__ = ("__weakref__",)


class FilterChain(FrameFacts):
    """One API in one version. `request` and `response` are None if the frame only passes.

    `observers` are told the outcome of each request. `sees_request` and `sees_response`: is there more to do than to
    pass the frame on?
    """

    def __init__(
        self,
        api: Api,
        version: int,
        request: Interest | None,
        response: Interest | None,
        observers: Observers = NO_OBSERVERS,
        unread: FilterChain | None = None,
        unreadable: Callable[[Context], Steps] | None = None,
        lease: Lease | None = None,
    ) -> None:
        super().__init__(api, version, response.names if response else None)
        self.request = request
        self.response = response
        self.observers = observers
        self.unread = unread  # the chain for a response that no handler with a `needed` needs
        self.lease = lease
        self.unreadable = unreadable  # answers a request that cannot be read
        self.sees_request = bool(request or observers or api is PRODUCE)
        self.sees_response = bool(response or observers)
        self.may_wait = api in LATE  # may the broker answer as late as the client likes?
        # Whether requests are decided when it is their turn at the broker, and not while an older one may wait there.
        self.in_turn = bool(request and any(handler.in_turn for handler in request.handlers))
        self.requests = 0  # how many came; a plain number, read by the metrics
        answering = response.handlers if response else ()
        self.shown = request.shown if request else None  # what observers are shown; None: no request
        # Whether nothing but topics is shown of a request, and nobody is told its outcome.
        self.only_topics_shown = not observers and (self.shown is None or self.shown.topics is not None)
        # Whether a plugin that is shown a request may be given its answer, and find there what it noted of the request.
        self.keeps_context = bool(self.shown and response and self.shown.positions & response.positions)
        fast_paths = {handler.fast_path for handler in request.handlers} if request else set()
        self.fast_path = joint(handler.fast_path for handler in request.handlers) if request else None
        self.handled = bool(request and request.handlers)
        # Whether a small response is only shown: no handler looks at it, and nobody takes steps before it leaves.
        self.only_shows = bool(response and not response.handlers and not observers.holders)
        self._needed = tuple(handler.needed for handler in answering if handler.needed)
        self._on_error = tuple(handler.on_error for handler in answering if handler.on_error)
        none_needed = self.fast_path and all(
            handler.unneeded_after in fast_paths for handler in answering if handler.needed
        )
        # The chain for answers to requests that the fast path let pass, if it is another.
        self.after_fast_path = unread if none_needed else None
        # Whether a sample may say that no handler needs an answer.
        self._asks_sample = self.fast_path is not None and all(
            handler.unneeded_while in fast_paths for handler in answering if handler.needed
        )
        self.tail_only = (
            response is not None and response.names is not None and ends_in_tags(api.response, response.names)
        )
        # Whether only such a tail matters: no observer is told of the answer, and no handler may leave it unread.
        self.only_tail = self.tail_only and not observers and unread is None
        # Whether handlers are shown every response: nobody is told of the answer, and none may leave it unread.
        self.always_read = bool(answering) and not (observers or unread or self.tail_only)
        # How such a response was changed, if one handler wants to see no more than its first fields.
        self.repeated: RepeatedAnswer | None = None
        names = response.names if response and len(answering) == 1 and not response.observers else None
        if self.always_read and names and all(api.response.field[name].tag is None for name in names):
            self.repeated = RepeatedAnswer(api.response, version, names)
        self.begins: Any = None  # how the last producer's requests began: those of most producers begin so

    def of_response(
        self, ctx: Context | None, data: memoryview | None = None, start: int = 0, stop: int = 0
    ) -> FilterChain:
        """The chain of the response that begins now, at `start`. Without `data`: of one without an error of its own."""
        if self.unread is None or ctx is None:
            return self
        try:
            if self._asks_sample and ctx.unneeded is not None and ctx.unneeded():
                if ctx.minds_errors and data is not None and self.may_be_error(data, start, stop):
                    return self
                return self.unread
            for needed in self._needed:
                if needed(ctx):
                    return self
            if data is not None and any(wants(ctx) for wants in self._on_error):
                return self if self.may_be_error(data, start, stop) else self.unread
        except FAILURES:
            return self  # its handler is asked now, and says what is wrong
        return self.unread
