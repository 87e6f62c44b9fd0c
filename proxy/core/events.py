"""Events: what a link did that somebody may want to know. Facts only: how they are told is `net`'s business.

`Connected` and `Closed` are for observers alone (`connection_events.py`): `net` knows of both.
"""

from dataclasses import dataclass, field

from proxy.protocol.api import Api
from proxy.protocol.problem import ProtocolError


@dataclass(frozen=True, slots=True)
class HandlerFailed:
    """A handler raised. Its request was refused, its response withheld: never was either passed on unseen."""

    handler: str
    api: Api
    version: int
    error: Exception
    at: str = field(default="", compare=False)  # file:line, where that is known


@dataclass(frozen=True, slots=True)
class ObserverFailed:
    """An observer raised. What it observes went on. `api` None: it was told of an event."""

    observer: str
    api: Api | None
    version: int
    error: Exception
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A frame that a handler needed to see could not be read; it was not passed on."""

    api: Api
    version: int
    error: ProtocolError


@dataclass(frozen=True, slots=True)
class StepsFailed:
    """What went on beside a conversation raised. The conversation ends."""

    steps: str
    error: Exception
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Connected:
    """A client and its broker are connected to each other, by the proxy."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over, for this reason; None: nothing was wrong.

    `began` and `ended` are in seconds of the link's clock, as the moments of an `Outcome`. Bytes are those that came.
    """

    reason: str | None
    began: float
    ended: float
    from_client: int
    from_broker: int


@dataclass(frozen=True, slots=True)
class Authenticated:
    """The client is who it says. `again`: it was already, and its session goes on."""

    mechanism: str
    principal: str | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The client did not prove who it is; `why` holds nothing secret.

    `claimed`: the principal that it said it is, where that may be told. It is for the journal, not for the log.
    """

    mechanism: str
    why: str
    claimed: str | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """The rules do not allow what the client asked for; `why` and `place` say which of them. All as a person writes it.

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
    """The client had ACLs created and deleted, so many, where the proxy keeps them itself."""

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
