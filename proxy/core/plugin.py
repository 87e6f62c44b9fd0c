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
* What `fields` and `carrying()` mean is said in `wish.py`; all decorators are in `decorators.py`.
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
from typing import Any, ClassVar

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection
from proxy.core.counting import RequestCounting
from proxy.core.decisions import Decision, Steps
from proxy.core.events import Fact
from proxy.core.outcome import Holder, Observer
from proxy.core.services import Services
from proxy.core.state import StateError
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import Api
from proxy.text.file import Section
from proxy.text.problems import Finding


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
