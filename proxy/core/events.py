"""Events: facts about a link that are worth reporting. `net` decides how they are reported.

`Connected` and `Closed` are for observers alone (`connection_events.py`): `net` knows of both already.
"""

from dataclasses import dataclass, field

from proxy.core.failure import AnyFailure
from proxy.protocol.api import Api
from proxy.protocol.problem import ProtocolError


@dataclass(frozen=True, slots=True)
class HandlerFailed:
    """A handler raised. Its request was refused, or its response withheld: neither is ever passed on unseen."""

    handler: str
    api: Api
    version: int
    error: AnyFailure
    at: str = field(default="", compare=False)  # file:line, if that is known


@dataclass(frozen=True, slots=True)
class ObserverFailed:
    """An observer raised. What it observes went on. `api` None: it was told of an event."""

    observer: str
    api: Api | None
    version: int
    error: AnyFailure
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A frame that a handler needed to see could not be read; it was not passed on."""

    api: Api
    version: int
    error: ProtocolError


@dataclass(frozen=True, slots=True)
class StepsFailed:
    """Steps beside a conversation raised. The conversation ends."""

    steps: str
    error: AnyFailure
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Connected:
    """A client and its broker are connected to each other, by the proxy."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over, for this reason; None: nothing was wrong.

    `began` and `ended` are in seconds of the link's clock, as the moments of an `Outcome`. Bytes are those received.
    """

    reason: str | None
    began: float
    ended: float
    from_client: int
    from_broker: int


@dataclass(frozen=True, slots=True)
class Authenticated:
    """The client is authenticated. `again`: it was already (reauthentication), and its session goes on."""

    mechanism: str
    principal: str | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The client's authentication failed; `why` holds nothing secret.

    `claimed`: the principal that the client claimed to be, if that may be told. It is for the journal, not for the log.
    """

    mechanism: str
    why: str
    claimed: str | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """The rules do not allow what the client asked for; `why` and `place` say which of them. For people to read.

    `enforced` False: it was let through, and only this line says so. `correlation_id` is the request's.
    """

    api: Api
    operation: str
    resource: str
    name: str
    why: str
    place: str
    enforced: bool
    correlation_id: int | None = None


@dataclass(frozen=True, slots=True)
class AclsChanged:
    """The client created and deleted so many ACLs, in a proxy that keeps them itself."""

    created: int
    deleted: int


@dataclass(frozen=True, slots=True)
class AclsNotChanged:
    """The client may change ACLs, but the file could not be changed."""

    why: str


Event = (
    HandlerFailed
    | ObserverFailed
    | Undecodable
    | StepsFailed
    | Authenticated
    | Refused
    | Denied
    | AclsChanged
    | AclsNotChanged
)
Fact = Event | Connected | Closed
