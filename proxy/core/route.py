"""Routes: what is done with the frames of each (api, version), found with one look into a table.

Rules:
* A route never changes once it is built; a new configuration has new ones. A request keeps its route until it is
  answered, so that what is in flight ends under the rules it began with.
* There is no route for what clients have no business with: an unknown api or version, and what brokers say to brokers.
  Such a request closes its connection, as a broker would (hazard 8 of the wire).
* Of a Produce request `acks` is always read: with acks 0 there is no answer to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from proxy.core.context import Connection, Context
from proxy.core.decisions import Steps
from proxy.core.interest import Interest, interest
from proxy.core.plugin import Handler, Plugin
from proxy.protocol import messages as _messages  # noqa: F401 (each api learns its classes)
from proxy.protocol.alike import Alike, Looked
from proxy.protocol.api import APIS, PRODUCE, Api
from proxy.protocol.codec import BAD_BYTES, Picker, end_finder, picker, skipper, tags_finder
from proxy.protocol.frame import RESPONSE_HEAD, SIZE
from proxy.protocol.header import ResponseHeader
from proxy.protocol.schema import Message, Request
from proxy.protocol.tail import ends_in_tags

CORRELATION_ID = RESPONSE_HEAD.size - SIZE.size  # bytes


class Route:
    """One api in one version. `request` and `response` are None where the frame only passes."""

    __slots__ = (
        "_acks",
        "_bare",
        "_find_tags",
        "_response_header",
        "api",
        "glance",
        "header_version",
        "needed",
        "needs_look",
        "passed",
        "request",
        "requests",
        "response",
        "tail_only",
        "unneeded",
        "version",
    )

    def __init__(
        self,
        api: Api,
        version: int,
        request: Interest | None,
        response: Interest | None,
        unneeded: Route | None = None,
    ) -> None:
        only = request.handlers[0] if request is not None and len(request.handlers) == 1 else None
        self.glance = None if only is None else only.glance
        self.unneeded = unneeded  # the route of a response that none of the handlers needs which can say so
        answering = response.handlers if response else ()
        self.needed = tuple(handler.needed for handler in answering if handler.needed)
        settled = self.glance and all(handler.settled is self.glance for handler in answering if handler.needed)
        self.passed = unneeded if settled and unneeded else self  # the route of an answer to what the glance let pass
        self.api = api
        self.version = version
        self.request = request
        self.response = response
        self.header_version = api.request_header(version)
        self.tail_only = (
            response is not None and response.names is not None and ends_in_tags(api.response, response.names)
        )
        self.needs_look = request is not None or api is PRODUCE
        self.requests = 0  # how many came; a plain number, read by whoever keeps the metrics
        self._acks: Picker[Any] | None = None  # compiled when the first such request comes
        self._find_tags: Callable[[memoryview, int], int] | None = None  # likewise
        self._bare = Alike()
        self._response_header = skipper(ResponseHeader, api.response_header(version))

    def of_response(self, ctx: Context | None) -> Route:
        """The route of the response that begins now."""
        if self.unneeded is None or ctx is None:
            return self
        try:
            for needed in self.needed:
                if needed(ctx):
                    return self
        except Exception:
            return self  # its handler is asked now, and says what is wrong
        return self.unneeded

    def acks(self, frame: memoryview, body: int) -> int | None:
        """The acks of a Produce request, which may not be whole yet; None: more bytes are needed."""
        if self._acks is None:
            self._acks = picker(self.api.request, self.version, "acks")
        request = self._acks.prefix(frame, body)
        return None if request is None else int(request.acks)

    def acks_end(self, frame: memoryview, body: int) -> int:
        """Where the acks of a Produce request end that `acks()` could read."""
        return end_finder(self.api.request, self.version, "acks")(frame, body)

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

    def _to_tags(self, data: Any, after_head: int) -> int:
        """From the end of a response's head to where its own tagged fields begin."""
        find = self._find_tags
        if find is None:
            find = self._find_tags = tags_finder(self.api.response, self.version)
        return find(data, self._response_header(data, after_head - CORRELATION_ID))

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


class Routes:
    """All routes of one snapshot. `table` is keyed by api key << 16 | version."""

    def __init__(self, plugins: Iterable[Plugin] = (), apis: Iterable[Api] | None = None) -> None:
        handlers: list[Handler] = []
        self.unsupported: dict[int, Callable[..., Any]] = {}
        self.unreadable: dict[int, Callable[[Context], Steps]] = {}
        self.connected: list[Callable[[Connection], Steps | None]] = []
        for position, plugin in enumerate(plugins):
            handlers += plugin.handlers(position)
            if type(plugin).connected is not Plugin.connected:
                self.connected.append(plugin.connected)
            for name, api in plugin.unsupported.items():
                self.unsupported[api.key] = getattr(plugin, name)
            for name, api in plugin.unreadable.items():
                self.unreadable[api.key] = getattr(plugin, name)
        self.table: dict[int, Route] = {}
        for api in APIS.values() if apis is None else apis:
            if api.inter_broker:
                continue
            down = _wanting(api.request, handlers)
            up = _wanting(api.response, handlers)[::-1]
            for version in api.versions:
                request, response = interest(api.request, version, down), interest(api.response, version, up)
                unneeded = None
                if any(handler.needed for handler in up):
                    always = interest(api.response, version, [handler for handler in up if handler.needed is None])
                    unneeded = Route(api, version, request, always)
                self.table[api.key << 16 | version] = Route(api, version, request, response, unneeded)

    def counts(self) -> Mapping[tuple[str, int], int]:
        """Requests seen so far by api name and version."""
        return {(route.api.name, route.version): route.requests for route in self.table.values() if route.requests}


def _wanting(cls: type[Message], handlers: Iterable[Handler]) -> list[Handler]:
    side = "request" if issubclass(cls, Request) else "response"
    return [h for h in handlers if h.wish.side.side == side and h.wish.of(cls) != frozenset()]
