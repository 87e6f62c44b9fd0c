"""Plugins: one feature each, written as handlers of messages.

    class Address(Plugin):
        class Options(Options):                # what a file may say of it; without it there are none
            host: str

        def __init__(self, options: Options, services: Services) -> None:
            super().__init__(options, services)

        @on_response(MetadataResponse, fields="brokers")
        def metadata(self, ctx: Context, response: MetadataResponse) -> Decision: ...

        @on_response(carrying(Meaning.HOST))
        def endpoints(self, ctx: Context, response: Response) -> Decision: ...

    class Audit(Plugin):
        @observe(ProduceRequest, fields="topic_data")
        def produced(self, ctx: Context, request: ProduceRequest) -> None: ...

        @observe_topics(ProduceRequest, FetchRequest)
        def used(self, ctx: Context, topics: Topics) -> None: ...

        @on_outcome(PRODUCE, FETCH)
        def ended(self, ctx: Context, outcome: Outcome) -> None: ...

        @before_answer(PRODUCE)
        def hold(self, ctx: Context, outcome: Outcome) -> Steps: ...

        @on_event(Connected, Authenticated, Closed)
        def happened(self, connection: Connection, event: Connected | Authenticated | Closed) -> None: ...

Rules:
* `fields` names the top-level fields that the handler looks at; the others stay unread. Without it the whole message is
  decoded. In a version that has none of the fields the handler is not called; nor, where all fields that are wanted
  of a response are tagged ones of the message itself, on a response that has no such field at all.
* `carrying()` stands for every message that has such a field somewhere, and for the top-level fields that lead to it.
* Handlers of one message share what is read of it: a handler may find more fields read than it asked for.
* A misspelt class or field raises TypeError when the plugin's module is imported.
* Handlers of one plugin on one message run in the order in which they are written.
* An observer decides nothing. It is shown a request as it came, before any handler, and a response as it leaves, after
  all of them. One that wants no more than the topics of requests (`observe_topics`) is given these, and nothing else is
  read. What became of a request is told once, to `on_outcome`, of every API unless some are named. What happens to a
  connection is told to `on_event`.
* A plugin is made once for each cluster in each worker. What it keeps of a connection or a request it keeps in their
  `notes`, under its name: there may be another instance of it when the answer comes.
* A plugin that makes its handlers itself (`handlers`) may give them what `fast_path.py` speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection, Context
from proxy.core.counting import RequestCounting
from proxy.core.decisions import Decision, Steps
from proxy.core.events import Fact
from proxy.core.failure import name_of
from proxy.core.fast_path import FastPath
from proxy.core.outcome import Holder, Observer
from proxy.core.request_topics import TOPICS
from proxy.core.services import Services
from proxy.core.state import StateError
from proxy.protocol.api import Api
from proxy.protocol.schema import Message, Request, Response
from proxy.protocol.walk import leading
from proxy.protocol.wire import Meaning
from proxy.text.file import Section
from proxy.text.problems import Finding

H = TypeVar("H", bound=Callable[..., Any])


@dataclass(frozen=True)
class Carrying:
    """All messages that have a field of one of these meanings, at any depth."""

    meanings: frozenset[Meaning]

    def fields(self, cls: type[Message]) -> frozenset[str]:
        """The top-level fields of `cls` in which such a field lies; all of them where one lies there itself."""
        if any(field.meaning in self.meanings for field in cls.fields):
            return frozenset(field.name for field in cls.fields)
        return frozenset(field.name for field in leading(cls, *self.meanings))


def carrying(*meanings: Meaning) -> Carrying:
    """For `on_request` and `on_response`: every message that has a field of one of these meanings."""
    return Carrying(frozenset(meanings))


@dataclass(frozen=True)
class Wish:
    """What a handler wants to see. `names` None: everything. `observes`: it decides nothing."""

    side: type[Request] | type[Response]
    what: type[Message] | Carrying
    names: frozenset[str] | None
    observes: bool = False
    topics: bool = False  # it is shown the topics that are in these fields, and no message

    def of(self, cls: type[Message]) -> frozenset[str] | None:
        """The fields wanted of this message, None for all of it, an empty set for nothing."""
        if isinstance(self.what, Carrying):
            return self.what.fields(cls)
        return self.names if self.what is cls else frozenset()


@dataclass(frozen=True)
class Handler:
    """A handler, bound to its plugin. `position` is the plugin's place in the order of the configuration.

    `needed` says whether it wants to see the response that begins now, `fast_path` which requests it need not see, and
    `settled` whose requests have answers that it never needs.
    """

    call: Callable[..., Any]
    wish: Wish
    position: int
    needed: Callable[[Context], bool] | None = None
    fast_path: FastPath | None = None
    settled: FastPath | None = None

    @cached_property
    def name(self) -> str:
        """What to call it to a person: `Address.endpoints`."""
        return name_of(self.call)

    def __str__(self) -> str:
        return self.name


class Options(Section):
    """What a configuration may say of a plugin: fields with a description, as pydantic has them. Immutable."""


class Plugin:
    """One feature: a subclass with handlers. It is made with its options and its services.

    What needs neither, as a test's, can be made without.
    """

    class Options(Options):
        """None, unless a subclass has its own."""

    options: Any
    services: Services

    # Handlers by the name of the method, as the decorators marked them. Named so that no author hides one by chance.
    marked_wishes: ClassVar[dict[str, list[Wish]]] = {}
    marked_unsupported: ClassVar[dict[str, Api]] = {}
    marked_unreadable: ClassVar[dict[str, Api]] = {}
    marked_outcomes: ClassVar[dict[str, tuple[Api, ...]]] = {}
    marked_events: ClassVar[dict[str, tuple[type[Fact], ...]]] = {}
    marked_holders: ClassVar[dict[str, tuple[Api, ...]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
        cls.marked_wishes = _marked(members, "_wishes")
        cls.marked_unsupported = _marked(members, "_unsupported")
        cls.marked_outcomes = _marked(members, "_outcomes")
        cls.marked_unreadable = _marked(members, "_unreadable")
        cls.marked_events = _marked(members, "_events")
        cls.marked_holders = _marked(members, "_holds")

    def __init__(self, options: Any = None, services: Any = None) -> None:
        self.options = options
        self.services = services

    def start(self) -> None:
        """Get ready: called before the first connection, in a thread. Raises PluginError where that cannot be."""

    def stop(self) -> None:
        """Let go: called in a thread, when the last connection is gone, or when the last request that this instance
        handled has ended after another configuration came."""

    def replaced(self) -> None:
        """Another configuration came, without this instance: called in the thread of the links.

        It goes on with what began by it. What would wait for ever for something that is told to others now must not.
        """

    def accepted(self, arrival: Arrival) -> Steps | Decision:
        """A client was accepted. None lets it come, `Disconnect` ends it; `arrival.py` has the rules."""
        return None

    def not_served(self, ended: NotServed) -> None:
        """A connection ended before it was served; `arrival.py` has the rules."""

    def connected(self, connection: Connection) -> Steps | None:
        """A client came; nothing of it was read yet. Steps go on beside the conversation, until they or it end."""
        return None

    def joined(self, connection: Connection) -> None:
        """It came into force on a connection that is there, where none of its name was a moment before.

        What one of its name noted there earlier may be true no more: requests went by since.
        """

    def prepare_state(self, state: Any) -> Callable[[], None]:
        """Get ready to take this state: called in a thread. Gives what puts it in force, between two requests.

        Raises StateError where it cannot be taken. `state.py` has the rules.
        """
        raise StateError([Finding((), "this plugin takes no state while it runs")])

    def query(self, question: str, said: Any) -> Any:
        """Answer a question about what goes on: called in a thread. Both ways are plain values, as JSON has them.

        Raises KeyError for a question that it does not know.
        """
        raise KeyError(question)

    @property
    def reads(self) -> Hashable:
        """Stands for the handlers that it has, where these can change: where it is another, they are asked for anew."""
        return None

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """All handlers, bound to this instance."""
        for name, wishes in self.marked_wishes.items():
            for wish in wishes:
                yield Handler(getattr(self, name), wish, position)

    def observers(self, api: Api) -> Iterable[Observer]:
        """Those that are told what becomes of requests of this API."""
        return [getattr(self, name) for name, apis in self.marked_outcomes.items() if not apis or api in apis]

    def counting(self, api: Api, version: int) -> RequestCounting | None:
        """How requests of this API are counted that nobody need see (`counting.py`); None: they are not."""
        return None

    def holders(self, api: Api) -> Iterable[Holder]:
        """Those that take steps before answers of this API leave."""
        return [getattr(self, name) for name, apis in self.marked_holders.items() if not apis or api in apis]


def _marked(members: Mapping[str, Any], mark: str) -> dict[str, Any]:
    return {name: getattr(member, mark) for name, member in members.items() if hasattr(member, mark)}


def on_request(what: type[Request] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at requests on their way to the broker."""
    return _wish("@on_request", Request, what, fields)


def on_response(what: type[Response] | Carrying, fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The handler looks at responses on their way to the client."""
    return _wish("@on_response", Response, what, fields)


def observe(what: type[Request] | type[Response], fields: str | Iterable[str] | None = None) -> Callable[[H], H]:
    """The method is shown (ctx, message): requests as they come, responses as they leave. It decides nothing."""
    return _wish("@observe", Request if issubclass(what, Request) else Response, what, fields, observes=True)


def observe_topics(*requests: type[Request]) -> Callable[[H], H]:
    """The method is shown (ctx, topics): those that Produce and Fetch requests name; nothing else is read of them.

    They are names, or ids of 16 bytes in versions that have ids in place of names. It decides nothing.
    """

    def mark(observer: H) -> H:
        for request in reversed(requests):
            if request not in TOPICS:
                known = ", ".join(cls.__name__ for cls in TOPICS)
                raise TypeError(f"@observe_topics: {request.__name__} is none of {known}; @observe shows all others")
            wish = Wish(Request, request, frozenset({TOPICS[request][0]}), observes=True, topics=True)
            vars(observer).setdefault("_wishes", []).insert(0, wish)
        return observer

    return mark


def on_outcome(*apis: Api) -> Callable[[H], H]:
    """The method is told (ctx, outcome) of each request of these APIs, of every API where none is named."""

    def mark(observer: H) -> H:
        observer._outcomes = apis  # type: ignore[attr-defined]
        return observer

    return mark


def before_answer(*apis: Api) -> Callable[[H], H]:
    """The method takes steps before an answer of these APIs leaves, of every API where none is named.

    It is given (ctx, outcome), the outcome as it will be but for `left`, of answers by a broker, a plugin or the proxy,
    and has steps, or None. Answers stay in order: while it waits the broker is not read. It decides nothing.
    """

    def mark(holder: H) -> H:
        holder._holds = apis  # type: ignore[attr-defined]
        return holder

    return mark


def on_event(*kinds: type[Fact]) -> Callable[[H], H]:
    """The method is told (connection, event) of each event of these kinds (`events.py`, `connection_events.py`)."""

    def mark(observer: H) -> H:
        observer._events = kinds  # type: ignore[attr-defined]
        return observer

    return mark


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


def _wish(
    where: str, side: Any, what: Any, fields: str | Iterable[str] | None, *, observes: bool = False
) -> Callable[[H], H]:
    if isinstance(what, Carrying):
        if fields is not None:
            raise TypeError(f"{where}: carrying() says itself which fields; leave `fields` out")
        wish = Wish(side, what, None)
    else:
        wish = Wish(side, what, _checked(where, side, what, fields), observes)

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
