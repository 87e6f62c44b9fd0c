"""Plugins: one feature each, written as handlers of messages.

    class Address(Plugin):
        class Options(Options):                # its options in the configuration; without this class it has none
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
* `wish.py` explains `fields` and `carrying()`; all decorators are in `decorators.py`.
* Handlers of one plugin on one message run in the order in which they are written.
* An observer decides nothing. It is shown a request as it came, before any handler, and a response as it leaves, after
  all of them. An observer that only wants the topics of requests (`observe_topics`) is given these, and nothing else of
  the request is read. `on_outcome` is told the outcome of each request once, for every API unless some are named.
  `on_event` is told what happens to a connection.
* A plugin is made once for each cluster in each worker. It keeps what belongs to a connection or a request in their
  `notes`, under its name: when the answer comes, another instance of the plugin may be in force.
* A plugin that overrides `handlers` may give its handlers a fast path (`fast_path.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection
from proxy.core.counting import RequestCounting
from proxy.core.decisions import Decision, Steps
from proxy.core.events import Fact
from proxy.core.outcome import Holder, Observer
from proxy.core.services import Services
from proxy.core.signatures import check_methods
from proxy.core.state import StateError
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import Api
from proxy.text.file import Section
from proxy.text.problems import Finding

# What a decorator leaves on a method, and where `Plugin` collects it, by the name of the method.
MARKS = {
    "_wishes": "marked_wishes",
    "_unsupported": "marked_unsupported",
    "_unreadable": "marked_unreadable",
    "_outcomes": "marked_outcomes",
    "_events": "marked_events",
    "_holds": "marked_holders",
}


class Options(Section):
    """What a configuration may say of a plugin: fields with a description, as pydantic has them. Immutable."""


class Plugin:
    """One feature: a subclass with handlers. It is made with its options and its services.

    A plugin that uses neither, as in a test, can be made without them.
    """

    class Options(Options):
        """None, unless a subclass has its own."""

    options: Any
    services: Services

    # Handlers by the name of the method, as the decorators marked them. No subclass is likely to reuse these names.
    marked_wishes: ClassVar[dict[str, list[Wish]]] = {}
    marked_unsupported: ClassVar[dict[str, Api]] = {}
    marked_unreadable: ClassVar[dict[str, Api]] = {}
    marked_outcomes: ClassVar[dict[str, tuple[Api, ...]]] = {}
    marked_events: ClassVar[dict[str, tuple[type[Fact], ...]]] = {}
    marked_holders: ClassVar[dict[str, tuple[Api, ...]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
        for mark, collected in MARKS.items():
            marked = {name: getattr(member, mark) for name, member in members.items() if hasattr(member, mark)}
            for name in marked.keys() & vars(Plugin).keys():
                raise TypeError(f"{cls.__name__}.{name}: Plugin has a method of this name; call the handler otherwise")
            setattr(cls, collected, marked)
        check_methods(cls, members)

    def __init__(self, options: Any = None, services: Any = None) -> None:
        self.options = options
        self.services = services

    @property
    def held(self) -> int:
        """Bytes that it keeps of connections that are gone. They count in the memory budget."""
        return 0

    def start(self) -> None:
        """Get ready: called in a thread, before the first connection. Raises PluginError if the plugin cannot begin."""

    def stop(self) -> None:
        """Release what the plugin holds: called in a thread.

        It is called when the last connection is gone; or, if another instance has taken this one's place, when the last
        request that this instance handled has ended. It has limited time: see `proxy/net/hosted.py`.
        """

    def replaced(self) -> None:
        """A new configuration came into force without this instance: called in the thread of the links.

        The instance still handles the requests that began with it. New events go to other instances: a handler that
        waits for one must not wait for ever.
        """

    def accepted(self, arrival: Arrival) -> Steps | Decision:
        """A client's connection was accepted. None admits it, `Disconnect` ends it; `arrival.py` has the rules."""
        return None

    def not_served(self, ended: NotServed) -> None:
        """A connection ended before it was served; `arrival.py` has the rules."""

    def connected(self, connection: Connection) -> Steps | None:
        """A client is connected, and nothing from it was read yet. Steps run beside the conversation, until it ends."""
        return None

    def joined(self, connection: Connection) -> None:
        """The plugin came into force on an open connection, where no plugin of its name was in force just before.

        Notes that an earlier plugin of this name left on the connection may be out of date: requests passed since.
        """

    def prepare_state(self, state: Any) -> Callable[[], None]:
        """Prepare to take this state: called in a thread. Returns what puts it in force, between two requests.

        Raises StateError if the state cannot be taken. `state.py` has the rules.
        """
        raise StateError([Finding((), "this plugin takes no state while it runs")])

    def query(self, question: str, said: Any) -> Any:
        """Answer a question about the running plugin: called in a thread.

        `said` and the answer are plain values, as JSON has them. Raises KeyError for an unknown question.
        """
        raise KeyError(question)

    @property
    def reads(self) -> Hashable:
        """Identifies the current handlers, if they can change: when this value changes, `handlers` is called again."""
        return None

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """All handlers, bound to this instance."""
        for name, wishes in self.marked_wishes.items():
            for wish in wishes:
                yield Handler(getattr(self, name), wish, position)

    def observers(self, api: Api) -> Iterable[Observer]:
        """The methods that are told the outcomes of requests of this API."""
        return [getattr(self, name) for name, apis in self.marked_outcomes.items() if not apis or api in apis]

    def counting(self, api: Api, version: int) -> RequestCounting | None:
        """How requests of this API are counted without being read (`counting.py`); None: they are not."""
        return None

    def holders(self, api: Api) -> Iterable[Holder]:
        """The methods that take steps before answers of this API leave."""
        return [getattr(self, name) for name, apis in self.marked_holders.items() if not apis or api in apis]
