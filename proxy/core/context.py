"""Context: what a handler may know about the frame in front of it and the connection that it came on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from sys import getsizeof
from typing import Any, NamedTuple

from proxy.core.gate_protocol import Gate
from proxy.core.tls import Tls
from proxy.core.topology import Endpoint, ReachedBy, Topology
from proxy.protocol.api import Api
from proxy.protocol.schema import Message
from proxy.protocol.walk import elements

_numbers = count(1)
_set = object.__setattr__
ELEMENT = 500  # bytes that one element takes in memory, with what handlers make of it
SHORT = 1 << 10  # characters of a client id that need not be counted
COPIES = 2  # of a client id that are kept: as text, and as bytes


def held(notes: Mapping[Any, Any]) -> int:
    """Bytes that plugins keep: the sum of the `held` of their notes."""
    return sum([getattr(note, "held", 0) for note in notes.values()]) if notes else 0


def decoded_bytes(size: int, elements: int | None) -> int:
    """Bytes that a message of this size takes once it is decoded: estimated from its elements, if they were counted."""
    return 8 * size if elements is None else ELEMENT * elements


def kept_bytes(message: Message, size: int) -> int:
    """Bytes that a message of this size takes while it is kept, with what handlers make of it."""
    return size + ELEMENT * (elements(message) if message.elements is None else message.elements)


@dataclass(slots=True, eq=False)
class Connection:
    """One client connection. Facts that the client tells later (client id, software) are None until then."""

    client: tuple[str, int]
    listener: str
    cluster: str
    topology: Topology
    broker_id: int | None = None  # None on the bootstrap port
    reached_by: ReachedBy = field(default_factory=ReachedBy, repr=False, kw_only=True)
    gate: Gate = field(init=False, repr=False)  # the link's own
    tls: Tls | None = None
    principal: str | None = None  # as Kafka writes it: "User:alice"; None also if only the broker knows
    mechanism: str | None = None  # of SASL, once the client is authenticated
    taken_for: str | None = None  # whom the broker takes the client for, if the proxy logs in for it; "": unknown
    delegation: str | None = None  # the id of the delegation token that the client authenticated with
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    broker_versions: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # api key -> lowest, highest
    notes: dict[Any, Any] = field(default_factory=dict)  # for plugins: what they keep of this connection
    samples: dict[Any, Any] = field(default_factory=dict)  # the same for fast paths, until filters change
    number: int = field(default_factory=_numbers.__next__)  # counts the connections of this process
    edition: object = field(init=False, repr=False)  # another object whenever an attribute was set

    def __setattr__(self, name: str, value: object) -> None:
        _set(self, name, value)
        _set(self, "edition", object())

    @property
    def held(self) -> int:
        """Bytes that plugins keep for this connection, as far as they say so, and those of a long client id."""
        size, client_id = held(self.notes) + held(self.samples), self.client_id
        if client_id is not None and len(client_id) > SHORT:
            size += COPIES * getsizeof(client_id)
        return size

    @property
    def whose(self) -> str:
        """The client in a line of the log: its principal, or its host if the principal is not known."""
        return self.principal or self.client[0]

    def let_go(self) -> None:
        """Memory is short: have plugins forget what they can make again, by the `let_go()` of what they keep."""
        for note in chain(self.notes.values(), self.samples.values()):
            if hasattr(note, "let_go"):
                note.let_go()

    def facts(self) -> dict[str, object]:
        """What is known, for a line in the log."""
        host, port = self.client
        software = " ".join(filter(None, (self.software_name, self.software_version))) or None
        told = {
            "client": str(Endpoint(host, port)),
            "listener": self.listener,
            "broker": self.broker_id,
            "tls": self.tls and str(self.tls),
            "subject": self.tls and self.tls.subject,
            "principal": self.principal,
            "mechanism": self.mechanism,
            "delegation": self.delegation,
            "software": software,
        }
        return {name: value for name, value in told.items() if value is not None}


class HandlerDecided(NamedTuple):
    """What a handler decided. `rule`: the name of the rule behind it, such as a fault's."""

    handler: str
    decision: str
    rule: str | None = None


@dataclass(eq=False)  # without slots, as `Wanted`
class Context:
    """One request and its answer. `notes` is for a plugin that sees both.

    `decisions` are those of the handlers that decided something, in their order.
    `came`, `sent` and `answered` are in seconds of the link's clock, and only known for a request that is observed.

    A `sample` stands for all requests that are like an earlier one. No handler ever sees it. It has three more facts:
    `still` is asked when a request like it passed before it was whole, and its last byte came: may this byte pass?
    `unneeded` is asked when the answer to such a request begins: may it pass unread? If not, the handlers are asked.
    With `minds_errors`, an answer that has an error of its own may not pass in this way.
    """

    connection: Connection
    api: Api
    version: int
    correlation_id: int
    notes: dict[Any, Any] = field(default_factory=dict)
    request_bytes: int = 0
    decisions: tuple[HandlerDecided, ...] = field(default=(), init=False)
    came: float | None = field(default=None, init=False)
    sent: float | None = field(default=None, init=False)
    answered: float | None = field(default=None, init=False)
    sample: bool = field(default=False, init=False)
    still: Callable[[], bool] | None = field(default=None, init=False)
    unneeded: Callable[[], bool] | None = field(default=None, init=False)
    minds_errors: bool = field(default=False, init=False)
    is_large: bool = field(default=False, init=False)  # a large message was read for it: handlers go over it in slices

    @property
    def held(self) -> int:
        """Bytes that plugins keep from the request until its answer, as far as they say so."""
        return held(self.notes)

    def decide(self, handler: str, what: str, rule: str | None = None) -> None:
        """Note that a handler decided this, by the rule of this name if there is one."""
        self.decisions += (HandlerDecided(handler, what, rule),)

    def decided_by(self, *what: str) -> str | None:
        """The last handler that decided one of these."""
        return next((handler for handler, decided, _ in reversed(self.decisions) if decided in what), None)

    def without_notes(self, noted: frozenset[Any]) -> Context:
        """The same request without what is noted under these keys."""
        return self.with_notes({key: note for key, note in self.notes.items() if key not in noted})

    def with_notes(self, notes: dict[Any, Any]) -> Context:
        """The same request with these notes."""
        other = object.__new__(Context)  # `copy` takes 4 us more
        other.__dict__ = {**self.__dict__, "notes": notes}
        return other

    def as_sample(self) -> Context:
        """A sample of this request: a `FastPath` returns it for requests that are like this one."""
        sample = self.for_request(self.correlation_id, self.request_bytes)
        sample.sample = True
        return sample

    def for_request(self, correlation_id: int, size: int = 0) -> Context:
        """The context of a request of so many bytes that is like this sample, with its own copy of the notes."""
        other = object.__new__(Context)  # calling the class takes 0.04 us more
        other.connection, other.api, other.version = self.connection, self.api, self.version
        other.correlation_id, other.notes, other.request_bytes = correlation_id, self.notes.copy(), size
        if self.still is not None:
            other.still = self.still
        if self.unneeded is not None:
            other.unneeded, other.minds_errors = self.unneeded, self.minds_errors
        return other

    @property
    def client_id(self) -> str | None:
        """What the client calls itself; None until that was read."""
        return self.connection.client_id

    @property
    def topology(self) -> Topology:
        """The brokers of this cluster."""
        return self.connection.topology
