"""The journal's schema: every field of an event, with its type, its meaning, and since which version it is there.

Rules:
* An event is a plain dict of the typed dicts below: a checker of types holds whoever makes one to this declaration.
* A field has one meaning in all kinds of events: together they are one table. A field that an event lacks is null.
* The schema only grows. A new field says `Since(VERSION)`; none is renamed, taken away or given another type.
* Spark's columns (`ddl()`) and the page of documentation (`page.py`) are made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

VERSION = 1


@dataclass(frozen=True)
class Since:
    """The version of the schema that brought a field; one without it was there from the beginning."""

    version: int


Timestamp = Annotated[str, "TIMESTAMP"]  # 2026-03-01T08:00:00.000000Z
Small = Annotated[int, "INT"]
PRIMITIVES: dict[Any, str] = {str: "STRING", int: "BIGINT", bool: "BOOLEAN"}


class Stamp(TypedDict):
    """Of every event. The writer of the journal gives it."""

    kind: Annotated[str, "What happened: one of the kinds above."]
    schema: Annotated[Small, "The version of this schema that the event was written by."]
    time: Annotated[Timestamp, "When it happened, in UTC; of a request, when its answer left."]
    instance: Annotated[str, "One life of one writer of a journal. With `worker` it names a chain of segments."]
    worker: Annotated[Small, "Which process of the proxy wrote it, from 0."]
    sequence: Annotated[int, "Counts the events of the chain from 1 on, without a gap."]


class Opened(TypedDict):
    """Of `segment_opened`."""

    segment: Annotated[Small, "The number of the segment in its chain, from 1."]
    software: Annotated[str, "The version of Doorkeeper."]


class Lost(TypedDict):
    """Of `events_lost`."""

    lost: Annotated[int, "How many events could not be written."]
    lost_from: Annotated[Timestamp, "When the first of them happened."]
    lost_to: Annotated[Timestamp, "When the last of them happened."]


class Party(TypedDict, total=False):
    """Who a client is and where it came in. Of requests and connections."""

    connection: Annotated[int, "Counts the connections of the chain."]
    cluster: Annotated[str, "The cluster, as the configuration names it."]
    listener: Annotated[str, "The listener, as the configuration names it."]
    broker: Annotated[Small, "The id of the broker that it is connected to; null on the bootstrap port."]
    client_host: Annotated[str, "The address that the client came from."]
    client_port: Annotated[Small, "The port that the client came from."]
    principal: Annotated[str, "Who it is, as Kafka writes it: `User:alice`. Null where nobody was asked."]
    mechanism: Annotated[str, "The SASL mechanism that it authenticated with."]
    delegation: Annotated[str, "The id of the delegation token that it came with."]
    tls: Annotated[str, "The version and cipher of its TLS; null without TLS."]
    tls_subject: Annotated[str, "The subject of its certificate."]
    client_id: Annotated[str, "What the client calls itself."]
    client_software: Annotated[str, "Its library and that library's version, as it says."]


class Resource(TypedDict, total=False):
    """One thing that a request is about, and what came of it."""

    type: Annotated[str, "`topic`, `group`, `transactional_id`, `user`, or the type that the request names."]
    name: Annotated[str, "Its name. Null where only its id is known."]
    id: Annotated[str, "The id of a topic, where the request names it by that."]
    partition: Annotated[Small, "The partition, where it is about one."]
    error: Annotated[str, "The name of the error that it was answered with; null: none."]
    records: Annotated[int, "How many records were written or read; null where that is not known."]
    bytes: Annotated[int, "The size of these records, as they were sent."]
    first_offset: Annotated[int, "The offset of the first of these records."]
    last_offset: Annotated[int, "The offset of the last of these records."]


class HandlerDecision(TypedDict):
    """One thing that the proxy did with a request or its answer."""

    handler: Annotated[str, "The plugin and its handler: `Acl.check_request`, `RequestFaults.request`."]
    decision: Annotated[
        str, "`Forward` (something else was sent on), `Reply`, `Disconnect`, `Raw`, `Cut`, `failed`, ..."
    ]


class NotAllowed(TypedDict, total=False):
    """Of `denied`. Its request's own event follows, with the error that the client was given."""

    operation: Annotated[str, "What the client asked for: `Read`, `Write`, `Describe`, ..."]
    resource_type: Annotated[str, "On what: `topic`, `group`, `cluster`, ..."]
    resource_name: Annotated[str, "Its name."]
    rule: Annotated[str, "The rule that decided, as file:line:column; null where none allows it."]
    enforced: Annotated[bool, "False: the rules are only tried (shadow), and it was let through."]


class Parted(TypedDict, total=False):
    """Of `connection_closed`."""

    lasted_us: Annotated[int, "Microseconds for which the connection was there."]
    bytes_from_client: Annotated[int, "Bytes that the client sent."]
    bytes_from_broker: Annotated[int, "Bytes that the broker sent."]


class Ended(TypedDict, total=False):
    """Of `request`: what was asked, and what became of it."""

    api: Annotated[str, "Kafka's name of the API."]
    api_version: Annotated[Small, "Its version."]
    correlation_id: Annotated[Small, "The number that the client gave the request."]
    answered_by: Annotated[str, "Who answered: `broker`, `plugin`, `proxy` or `nobody`."]
    outcome: Annotated[
        str, "`answered`, `unknown` (the client wanted no answer), or `none`: it got none; `why` says why."
    ]
    errors: Annotated[
        list[str], "The names of all errors in the answer, each once. Empty: it has none. Null: not read."
    ]
    request_bytes: Annotated[int, "The size of the request, in bytes of its frame."]
    response_bytes: Annotated[int, "The size of the answer, in bytes of its frame."]
    broker_us: Annotated[int, "Microseconds from when the request went to the broker until its answer began."]
    proxy_us: Annotated[int, "Microseconds that the proxy took for the request and for its answer."]
    decisions: Annotated[
        list[HandlerDecision], "What the proxy did with it and with its answer, in order; null: nothing."
    ]
    resources: Annotated[list[Resource], "What it is about, and what came of each."]
    resources_left_out: Annotated[int, "How many more it is about, where these are too many to be kept."]


class Reason(TypedDict, total=False):
    """Of what ended or failed."""

    why: Annotated[str, "Why a request was answered by the proxy or not at all, a login failed, or a connection ended."]


KINDS = {
    "segment_opened": ("A segment of the journal begins.", (Opened,)),
    "events_lost": ("Events were lost here, since the journal could not take them.", (Lost,)),
    "journal_closed": ("The writer ended in order. It is the last event of its chain.", ()),
    "connection_opened": ("A client connected.", (Party,)),
    "connection_authenticated": ("A client proved who it is, or did so again.", (Party,)),
    "authentication_failed": ("A client did not prove who it is.", (Party, Reason)),
    "denied": ("The rules do not allow something that a client asked for.", (Party, NotAllowed, Ended, Reason)),
    "connection_closed": ("A connection ended.", (Party, Parted, Reason)),
    "request": (
        "A request came to its end: it was answered, or it is certain that it will not be.",
        (Party, Ended, Reason),
    ),
}


@dataclass(frozen=True)
class Column:
    """One field of the table, or of a struct in it: `inner` are the fields of a struct, or of an array's structs."""

    name: str
    type: str  # as Spark writes it
    meaning: str
    since: int
    inner: tuple[Column, ...] = ()


def columns(*sections: type) -> tuple[Column, ...]:
    """The fields that these typed dicts declare."""
    found: dict[str, Column] = {}
    for section in sections:
        for name, hint in get_type_hints(section, include_extras=True).items():
            found.setdefault(name, _column(name, hint))
    return tuple(found.values())


def table() -> tuple[Column, ...]:
    """Every field that an event may have."""
    return columns(Stamp, *(section for _, sections in KINDS.values() for section in sections))


def ddl() -> str:
    """The table's columns as Spark reads them: `spark.read.schema(ddl())`."""
    return ", ".join(f"`{column.name}` {column.type}" for column in table())


def _column(name: str, hint: Any) -> Column:
    inner, *said = get_args(hint)
    texts = [one for one in said if isinstance(one, str)]
    since = next((one.version for one in said if isinstance(one, Since)), 1)
    if get_origin(inner) is list:
        (element,) = get_args(inner)
        below = columns(element) if is_typeddict(element) else ()
        return Column(name, f"ARRAY<{_struct(below) if below else PRIMITIVES[element]}>", texts[-1], since, below)
    kind = texts[0] if len(texts) > 1 else PRIMITIVES[inner]  # an alias above says its own type first
    return Column(name, kind, texts[-1], since)


def _struct(inner: tuple[Column, ...]) -> str:
    return f"STRUCT<{', '.join(f'`{column.name}`: {column.type}' for column in inner)}>"
