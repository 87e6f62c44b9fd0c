"""Plugins: one feature each, written as handlers of messages.

    class Address(Plugin):
        @on_response(MetadataResponse, fields="brokers")
        def metadata(self, ctx: Context, response: MetadataResponse) -> Decision: ...

        @on_response(carrying(Meaning.HOST))
        def endpoints(self, ctx: Context, response: Response) -> Decision: ...

Rules:
* `fields` names the top-level fields that the handler looks at; the others stay unread. Without it the whole message is
  decoded. In a version that has none of the fields the handler is not called; nor, where all fields that are wanted
  of a response are tagged ones of the message itself, on a response that has no such field at all.
* `carrying()` stands for every message that has such a field somewhere, and for the top-level fields that lead to it.
* Handlers of one message share what is read of it: a handler may find more fields read than it asked for.
* A misspelt class or field raises TypeError when the plugin's module is imported.
* Handlers of one plugin on one message run in the order in which they are written.
* A request handler with a `glance` is not called for what that knows.
* A response handler with `needed` is asked only where that says so, when the response begins; a response that no other
  handler wants then passes unread. Where all who would be asked have `settled` it for what a glance lets pass, nobody
  is. A plugin that makes its handlers itself (`handlers`) may give them these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol, TypeVar

from proxy.core.context import Connection, Context
from proxy.core.decisions import Steps
from proxy.protocol.api import Api
from proxy.protocol.schema import Message, Request, Response, Struct, structs
from proxy.protocol.wire import Meaning

H = TypeVar("H", bound=Callable[..., Any])


@dataclass(frozen=True)
class Carrying:
    """All messages that have a field of one of these meanings, at any depth."""

    meanings: frozenset[Meaning]

    def fields(self, cls: type[Message]) -> frozenset[str]:
        """The top-level fields of `cls` in which such a field lies; all of them where one lies there itself."""
        if any(field.meaning in self.meanings for field in cls.fields):
            return frozenset(field.name for field in cls.fields)
        return frozenset(field.name for field in cls.fields if self._within(field.kind, field.meaning))

    def _within(self, kind: Any, meaning: Meaning | None) -> bool:
        if isinstance(kind, type) and issubclass(kind, Struct):
            return any(field.meaning in self.meanings for struct in structs(kind) for field in struct.fields)
        return meaning in self.meanings


def carrying(*meanings: Meaning) -> Carrying:
    """For `on_request` and `on_response`: every message that has a field of one of these meanings."""
    return Carrying(frozenset(meanings))


@dataclass(frozen=True)
class Wish:
    """What a handler wants to see. `names` None: everything."""

    side: type[Request] | type[Response]
    what: type[Message] | Carrying
    names: frozenset[str] | None

    def of(self, cls: type[Message]) -> frozenset[str] | None:
        """The fields wanted of this message, None for all of it, an empty set for nothing."""
        if isinstance(self.what, Carrying):
            return self.what.fields(cls)
        return self.names if self.what is cls else frozenset()


class Glance(Protocol):
    """Knows requests that are like one which was let pass as it came: they pass without being assembled or read.

    It is asked only where no other handler wants the request.
    """

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of a request that may pass, for its answer; None: it must be read.

        `api` is key << 16 | version, `length` that of the frame, of which `frame` may be but the beginning.
        """

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """This request was read and passes; its body begins at `body`. It has an answer."""


@dataclass(frozen=True)
class Handler:
    """A handler, bound to its plugin. `position` is the plugin's place in the order of the configuration."""

    call: Callable[..., Any]
    wish: Wish
    position: int
    needed: Callable[[Context], bool] | None = None
    glance: Glance | None = None
    settled: Glance | None = None  # what this lets pass has an answer that is never needed

    def __str__(self) -> str:
        return getattr(self.call, "__qualname__", repr(self.call))


@dataclass(frozen=True)
class Reload:
    """A file that a plugin works by has changed. `taken`: it is in force; otherwise what was before it still is."""

    file: str
    taken: bool
    said: tuple[str, ...] = ()  # what is wrong with it, a line each


class Plugin:
    """One feature. A subclass has handlers; what it needs to know it gets in its own constructor."""

    wishes: ClassVar[dict[str, list[Wish]]] = {}
    unsupported: ClassVar[dict[str, Api]] = {}
    unreadable: ClassVar[dict[str, Api]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
        cls.wishes = {name: list(member._wishes) for name, member in members.items() if hasattr(member, "_wishes")}
        cls.unsupported = {
            name: member._unsupported for name, member in members.items() if hasattr(member, "_unsupported")
        }
        cls.unreadable = {
            name: member._unreadable for name, member in members.items() if hasattr(member, "_unreadable")
        }

    def connected(self, connection: Connection) -> Steps | None:
        """A client came; nothing of it was read yet. Steps go on beside the conversation, until they or it end."""
        return None

    def refresh(self) -> Iterable[Reload]:
        """Look whether files that it works by have changed. Called five times a second, in a thread."""
        return ()

    def counts(self) -> Mapping[str, int]:
        """What it counted so far, by the names of `telemetry`'s measures."""
        return {}

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """All handlers, bound to this instance."""
        for name, wishes in self.wishes.items():
            for wish in wishes:
                yield Handler(getattr(self, name), wish, position)


def on_request(what: type[Request] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at requests on their way to the broker."""
    return _wish(Request, what, fields)


def on_response(what: type[Response] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at responses on their way to the client."""
    return _wish(Response, what, fields)


def on_unsupported(request: type[Request]) -> Callable[[H], H]:
    """The handler is given (ctx) for a request of this API in a version that nobody knows; its body is not read."""

    def mark(handler: H) -> H:
        handler._unsupported = request.api  # type: ignore[attr-defined]
        return handler

    return mark


def on_unreadable(request: type[Request]) -> Callable[[H], H]:
    """The handler is given (ctx) for a request of this API that cannot be read: it has steps to an answer, or to None.

    After None the conversation ends, as after any request that cannot be read.
    """

    def mark(handler: H) -> H:
        handler._unreadable = request.api  # type: ignore[attr-defined]
        return handler

    return mark


def _wish(side: Any, what: Any, fields: str | Iterable[str] | None) -> Callable[[H], H]:
    where = f"@on_{side.__name__.lower()}"
    if isinstance(what, Carrying):
        if fields is not None:
            raise TypeError(f"{where}: carrying() says itself which fields; leave `fields` out")
        wish = Wish(side, what, None)
    else:
        wish = Wish(side, what, _checked(where, side, what, fields))

    def mark(handler: H) -> H:
        vars(handler).setdefault("_wishes", []).insert(0, wish)  # decorators are applied from the last line up
        return handler

    return mark


def _checked(where: str, side: Any, what: type[Message], fields: str | Iterable[str] | None) -> frozenset[str] | None:
    """The names of the fields, all of which exist."""
    if not (isinstance(what, type) and issubclass(what, side)):
        raise TypeError(f"{where}: {getattr(what, '__name__', what)!r} is no {side.__name__} class")
    if fields is None:
        return None
    names = frozenset(fields.split() if isinstance(fields, str) else fields)
    for name in sorted(names - what.field.keys()):
        close = get_close_matches(name, what.field, 1)
        raise TypeError(
            f"{where}: {what.__name__} has no field {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")
        )
    return names
