"""Filter chains: who looks at the frames of each (api, version), found with one look into a table.

Rules:
* A chain never changes once it is built; a new configuration has new ones. A request keeps its chain until it is
  answered, so that what is in flight ends under the rules it began with.
* There is no chain for what clients have no business with: an unknown api or version, and what brokers say to brokers.
  Such a request closes its connection, as a broker would (hazard 8 of the wire).
* Whatever is under way holds the lease of the filters by which it began, and nothing else does: once they are replaced,
  they are done with when nobody holds it any more.
* Of a Produce request `acks` is always read: with acks 0 there is no answer to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any
from weakref import ref

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection, Context
from proxy.core.counting import PendingCount, RequestCounting
from proxy.core.decisions import Decision, Steps
from proxy.core.events import Fact
from proxy.core.fast_path import joint
from proxy.core.interest import Interest, interest
from proxy.core.outcome import Observers, Outcome
from proxy.core.plugin import Handler, Plugin
from proxy.protocol import messages as _messages  # noqa: F401 (each api learns its classes)
from proxy.protocol.alike import Alike, Looked
from proxy.protocol.api import APIS, PRODUCE, Api
from proxy.protocol.codec import BAD_BYTES, Picker, end_finder, picker, skipper, tags_finder
from proxy.protocol.frame import RESPONSE_HEAD, SIZE
from proxy.protocol.header import ResponseHeader
from proxy.protocol.schema import Message, Request, Response
from proxy.protocol.slices import ELEMENTS, LIGHT
from proxy.protocol.tail import ends_in_tags
from proxy.protocol.tally import element_counter

CORRELATION_ID = RESPONSE_HEAD.size - SIZE.size  # bytes


class Lease:
    """Of some filters."""

    __slots__ = ("__weakref__",)


NOBODY = Observers()


class FilterChain:
    """One api in one version. `request` and `response` are None where the frame only passes.

    `observers` are told what became of each request. `sees_request` and `sees_response`: is there more to do than to
    pass the frame on?
    """

    def __init__(
        self,
        api: Api,
        version: int,
        request: Interest | None,
        response: Interest | None,
        observers: Observers = NOBODY,
        unread: FilterChain | None = None,
        unreadable: Callable[[Context], Steps] | None = None,
        lease: Lease | None = None,
    ) -> None:
        self.api = api
        self.version = version
        self.request = request
        self.response = response
        self.observers = observers
        self.unread = unread  # the chain of a response that none of the handlers needs which can say so
        self.lease = lease
        self.unreadable = unreadable  # is asked about a request that cannot be read
        self.header_version = api.request_header(version)
        self.sees_request = bool(request or observers or api is PRODUCE)
        self.sees_response = bool(response or observers)
        self.requests = 0  # how many came; a plain number, read by whoever keeps the metrics
        answering = response.handlers if response else ()
        self.shown = request.shown if request else None  # to observers; None: no request is
        fast_paths = {handler.fast_path for handler in request.handlers} if request else set()
        self.fast_path = joint(handler.fast_path for handler in request.handlers) if request else None
        self.handled = bool(request and request.handlers)
        # Whether a small response is only shown: no handler looks at it, and nobody takes steps before it leaves.
        self.only_shows = bool(response and not response.handlers and not observers.holders)
        self._needed = tuple(handler.needed for handler in answering if handler.needed)
        settled = self.fast_path and all(handler.settled in fast_paths for handler in answering if handler.needed)
        self.passed = unread if settled else None  # the chain of answers to what the fast path let pass, if another
        self.tail_only = (
            response is not None and response.names is not None and ends_in_tags(api.response, response.names)
        )
        self._bare = Alike()
        self._response_header = skipper(ResponseHeader, api.response_header(version))

    def is_counted(self, told: FilterChain) -> bool:
        """Can a request pass, and its answer (by the chain `told`), without being read by those who handle them?"""
        if told.response is None or (self.handled and self.fast_path is None):
            return False
        answered = (told.unread or told).response
        rest = interest(self.api.response, self.version, answered.handlers if answered else ())
        return rest is None or (rest.names is not None and ends_in_tags(self.api.response, rest.names))

    def of_response(self, ctx: Context | None) -> FilterChain:
        """The chain of the response that begins now."""
        if self.unread is None or ctx is None:
            return self
        try:
            for needed in self._needed:
                if needed(ctx):
                    return self
        except Exception:
            return self  # its handler is asked now, and says what is wrong
        return self.unread

    @cached_property
    def _acks(self) -> Picker[Any]:
        return picker(self.api.request, self.version, "acks")

    def acks(self, frame: memoryview, body: int) -> int | None:
        """The acks of a Produce request, which may not be whole yet; None: more bytes are needed."""
        request = self._acks.prefix(frame, body)
        return None if request is None else int(request.acks)

    def acks_end(self, frame: memoryview, body: int) -> int:
        """Where the acks of a Produce request end that `acks()` could read."""
        return end_finder(self.api.request, self.version, "acks")(frame, body)

    def is_light(self, cls: type[Request] | type[Response], frame: memoryview, body: int) -> bool:
        """Has this frame, which is whole and not small, few elements? It is read as small ones are, in 20 us."""
        if len(frame) > LIGHT:
            return False
        try:
            return element_counter(cls, self.version)(frame, body, ELEMENTS) is not None
        except BAD_BYTES:
            return False  # whoever reads it says what is wrong

    def ends_bare(self, data: memoryview, start: int, stop: int) -> bool:
        """Is the response from `start` to `stop` one without tagged fields of its own? Most Produce and Fetch are.

        Where only such fields are wanted, nobody needs to see it: 0.5 us instead of 6 for reading it and asking them.
        """
        body = start + RESPONSE_HEAD.size
        if self._bare.knows(data, body, stop):
            return True
        try:
            tags = self._to_tags(data, body)
            if tags + 1 != stop or data[tags]:
                return False
        except BAD_BYTES:
            return False  # whoever reads it says what is wrong
        self._bare.remember(data, body, stop, self._to_end)
        return True

    @cached_property
    def _find_tags(self) -> Callable[[bytes | memoryview, int], int]:
        return tags_finder(self.api.response, self.version)

    def _to_tags(self, data: Any, after_head: int) -> int:
        """From the end of a response's head to where its own tagged fields begin."""
        return self._find_tags(data, self._response_header(data, after_head - CORRELATION_ID))

    def _to_end(self, data: Looked, after_head: int) -> int:
        """The same, and a look at how many they are."""
        return data[self._to_tags(data, after_head)]

    def response_body(self, frame: bytes | memoryview) -> int | None:
        """Where the body of a response begins that begins with `frame`; None: more bytes are needed."""
        try:
            body = self._response_header(frame, SIZE.size)
        except BAD_BYTES:
            return None
        return body if body <= len(frame) else None


class CountedChain:
    """Stands in the slot of a request that is counted. `told` is the chain of its answer, where that is read."""

    __slots__ = ("counting", "fast_path", "told")

    sees_response = True

    def __init__(self, counting: RequestCounting, chain: FilterChain, told: FilterChain) -> None:
        self.counting = counting
        self.fast_path = chain.fast_path
        self.told = told

    def needs(self, pending: PendingCount) -> bool:
        """Does somebody who handles it need to see the answer that begins now?"""
        told = self.told
        return told.unread is not None and told.of_response(pending.sample) is told

    def context(self, connection: Connection, number: int, pending: PendingCount) -> Context:
        """The context that the request has after all."""
        if pending.sample is not None:
            return pending.sample.of_like(number, pending.exchange.size)
        return Context(connection, self.told.api, self.told.version, number, {}, pending.exchange.size)


class Filters:
    """All filter chains of one configuration. `table` is keyed by api key << 16 | version.

    `lease()` is None when neither this nor anything that began by it is there any more.
    """

    def __init__(self, plugins: Iterable[Plugin] = (), apis: Iterable[Api] | None = None) -> None:
        self.plugins = plugins = tuple(plugins)
        self.joining = {_name(plugin): plugin.joined for plugin in plugins if type(plugin).joined is not Plugin.joined}
        self.names = frozenset(map(_name, plugins))
        self._lease = Lease()
        self.lease = ref(self._lease)
        handlers: list[Handler] = []
        self.unsupported: dict[int, Callable[..., Any]] = {}
        unreadables: dict[int, Callable[[Context], Steps]] = {}
        self.accepted: list[Callable[[Arrival], Steps | Decision]] = []
        self.not_served: list[Callable[[NotServed], None]] = []
        self.connected: list[Callable[[Connection], Steps | None]] = []
        self.events: dict[type[Fact], list[Callable[[Connection, Any], None]]] = {}
        for position, plugin in enumerate(plugins):
            handlers += plugin.handlers(position)
            if type(plugin).accepted is not Plugin.accepted:
                self.accepted.append(plugin.accepted)
            if type(plugin).not_served is not Plugin.not_served:
                self.not_served.append(plugin.not_served)
            if type(plugin).connected is not Plugin.connected:
                self.connected.append(plugin.connected)
            for name, kinds in plugin.marked_events.items():
                for kind in kinds:
                    self.events.setdefault(kind, []).append(getattr(plugin, name))
            for name, api in plugin.marked_unsupported.items():
                self.unsupported[api.key] = getattr(plugin, name)
            unreadables |= {api.key: getattr(plugin, name) for name, api in plugin.marked_unreadable.items()}
        self.table: dict[int, FilterChain] = {}
        self.counted: dict[int, CountedChain] = {}  # of requests that are counted: those that may be, unread
        for api in APIS.values() if apis is None else apis:
            if api.inter_broker:
                continue
            down = _wanting(api.request, handlers)
            up = _wanting(api.response, handlers)[::-1]
            observers = self.observers(api)
            unreadable = unreadables.get(api.key)
            watching = {handler.position for handler in (*down, *up) if handler.wish.observes}
            watching |= {position for position, plugin in enumerate(plugins) if any(plugin.observers(api))}
            for version in api.versions:
                request, response = interest(api.request, version, down), interest(api.response, version, up)
                unread = None
                if any(handler.needed for handler in up):
                    always = interest(api.response, version, [handler for handler in up if handler.needed is None])
                    unread = FilterChain(api, version, request, always, observers, lease=self._lease)
                chain = FilterChain(api, version, request, response, observers, unread, unreadable, lease=self._lease)
                self._count(chain, watching)
                self.table[api.key << 16 | version] = chain

    def _count(self, chain: FilterChain, watching: Iterable[int]) -> None:
        """Have its requests counted where one plugin wants that, and no other wants to know of them."""
        api, told = chain.api, chain.passed or chain
        plugins = [self.plugins[position] for position in watching]
        counting = plugins[0].counting(api, chain.version) if len(plugins) == 1 else None
        if counting is not None and not chain.observers.holders and chain.is_counted(told):
            self.counted[api.key << 16 | chain.version] = CountedChain(counting, chain, told)

    def observers(self, api: Api) -> Observers:
        """Those that are told what becomes of requests of this API."""
        holders = tuple(holder for plugin in self.plugins for holder in plugin.holders(api))
        told = [observer for plugin in self.plugins for observer in plugin.observers(api)]
        observers = Observers(told or [_nobody] if holders else told)
        observers.lease, observers.holders = self._lease, holders
        return observers

    def counts(self) -> Mapping[tuple[str, int], int]:
        """Requests seen so far by api name and version."""
        return {(chain.api.name, chain.version): chain.requests for chain in self.table.values() if chain.requests}


def _name(plugin: Plugin) -> str:
    """What the configuration calls a plugin; one that has no services is called by its class."""
    services = getattr(plugin, "services", None)
    return type(plugin).__name__ if services is None else str(services.name)


def _nobody(ctx: Context, outcome: Outcome) -> None:
    """Stands where answers are held back and nobody is told of them afterwards."""


def _wanting(cls: type[Message], handlers: Iterable[Handler]) -> list[Handler]:
    side = "request" if issubclass(cls, Request) else "response"
    return [h for h in handlers if h.wish.side.side == side and h.wish.of(cls) != frozenset()]
