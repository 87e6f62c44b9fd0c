"""Interest: which handlers and observers want which fields of one message in one version.

Built once from the plugins in force; asked once a frame. A message that no plugin wants has no Interest at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, update_wrapper
from typing import Any

from proxy.core.context import Context
from proxy.core.outcome import Showing
from proxy.core.request_topics import RequestTopics
from proxy.core.wish import Handler
from proxy.protocol.codec import decode_ignoring_rest, encode, slice_decode, slice_encode
from proxy.protocol.frame import Buffer
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.picker import Picker, picker
from proxy.protocol.records import most_records
from proxy.protocol.schema import Message
from proxy.protocol.slices import FEW, Sliced
from proxy.protocol.walk import paths
from proxy.protocol.wire import Meaning

# A handler that refuses a Produce request has to know whether the request gets an answer at all.
ALWAYS: dict[type[Message], frozenset[str]] = {ProduceRequest: frozenset({"acks"})}


class Interest:
    """Some handlers and observers, and the fields that they want of `cls` in `version`; `names` None: all fields."""

    def __init__(
        self, cls: type[Message], version: int, names: frozenset[str] | None, handlers: Iterable[Handler]
    ) -> None:
        self.cls = cls
        self.version = version
        self.names = names
        wanting = tuple(handlers)
        self.positions = frozenset(handler.position for handler in wanting)
        self.handlers = tuple(handler for handler in wanting if not handler.wish.observes)
        self._observing = tuple(handler for handler in wanting if handler.wish.observes)
        self.observers = tuple(map(self._showing, self._observing))
        self.told = tuple(handler.call for handler in self._observing)  # called with topics alone, if `topics` is set
        only = bool(self._observing) and all(handler.wish.topics for handler in self._observing)
        self.topics = RequestTopics(cls, version) if only else None

    def _showing(self, observer: Handler) -> Showing:
        """The function that shows an observer a message."""
        if not observer.wish.topics:
            return observer.call
        call, topics = observer.call, RequestTopics(self.cls, self.version)

        def show(ctx: Context, message: Message) -> object:
            return call(ctx, topics.of(message))

        return update_wrapper(show, call)

    @cached_property
    def shown(self) -> Interest | None:
        """The interest of the observers alone, for a message that no handler needs to see; None: no observers."""
        return interest(self.cls, self.version, self._observing) if self.handlers else self

    @cached_property
    def _picker(self) -> Picker[Message]:
        return picker(self.cls, self.version, *sorted(self.names or ()))

    def read(self, body: bytes) -> Message:
        """The message, or the wanted fields of it. Raises ProtocolError."""
        if self.names is None:
            return decode_ignoring_rest(self.cls, self.version, body)
        return self._picker.decode(body)

    def has_many_records(self, message: Message) -> bool:
        """May this message have so many records in the wanted fields that handlers need slices to go over them?

        Its bytes and its elements do not say so: a million records may be compressed to 700 bytes.
        """
        path = self._records
        return path is not None and _most_records([message], path) > FEW

    @cached_property
    def _records(self) -> tuple[str, ...] | None:
        """The path to the records of such a message; None: no handler goes over them, or there are none."""
        wanted = [handler.wish.of(self.cls) for handler in self.handlers if handler.over_records]
        for path in (tuple(path.split(".")) for path in paths(self.cls, Meaning.RECORDS)):
            if any(names is None or path[0] in names for names in wanted):
                return path
        return None

    def slice_read(self, frame: Buffer, body: int, most: int) -> Sliced[Message]:
        """The same for a large frame of at most `most` elements, in slices. Raises ProtocolError."""
        if self.names is None:
            return slice_decode(self.cls, self.version, frame, body, most)
        return self._picker.slice_decode(frame, body, most)

    def write(self, message: Message) -> bytes:
        """The body of a message that `read` gave, or that a plugin made. Raises ProtocolError."""
        if self.names is None or not message.has("opaque"):
            return encode(message, self.version)
        return self._picker.encode(message)

    def slice_write(self, message: Message) -> Sliced[list[Buffer]]:
        """The same in slices and pieces. Raises ProtocolError."""
        if self.names is None or not message.has("opaque"):
            return slice_encode(message, self.version)
        return self._picker.slice_encode(message)


def interest(cls: type[Message], version: int, handlers: Iterable[Handler]) -> Interest | None:
    """What these handlers together want of `cls` in `version`."""
    names: frozenset[str] | None = frozenset()
    wanting = []
    for handler in handlers:
        wanted = handler.wish.of(cls)
        if wanted is not None:
            wanted = frozenset(name for name in wanted if cls.field[name].present(version))
            if not wanted:
                continue
            wanted |= ALWAYS.get(cls, frozenset())
        wanting.append(handler)
        names = None if names is None or wanted is None else names | wanted
    return Interest(cls, version, names, wanting) if wanting else None


def _most_records(structs: Iterable[Any], path: tuple[str, ...]) -> int:
    """How many records there may be at the end of this path. By `values` it would take 5 us more."""
    name, rest = path[0], path[1:]
    found = [value for struct in structs if (value := getattr(struct, name)) is not None]
    return sum(_most_records(each, rest) for each in found) if rest else sum(map(most_records, found))
