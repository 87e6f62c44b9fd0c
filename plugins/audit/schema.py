"""The journal's schema: every field of an event, with its type, its meaning, and the version that brought it.

Rules:
* An event is a plain dict of the typed dicts below, so the type checker compares code that makes one with this
  declaration.
* A field has one meaning in all kinds of events: together they are one table. A field that an event lacks is null.
* The schema only grows. A new field has `Since(VERSION)`; no field is renamed, removed or given another type.
* Spark's columns (`ddl()`) and the page of documentation (`page.py`) are made from it.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from plugins.audit.columns import Column, Since, Small, Timestamp, columns
from plugins.audit.request_schema import Asked, Ended

VERSION = 5


class EventStamp(TypedDict):
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
    window_us: Annotated[
        int, Since(2), "Microseconds for which a summary may count before it is written: what a killed writer may lose."
    ]


class Redacting(TypedDict, total=False):
    """Of `segment_opened`, where events are redacted."""

    redaction: Annotated[list[str], Since(3), "The rules of redaction in force, in their order; null: none."]
    pseudonyms: Annotated[
        str, Since(3), "An id of the key of the pseudonyms: the same names have the same ones where it is the same."
    ]


class Lost(TypedDict):
    """Of `events_lost` and `events_unsent`."""

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
    rules: Annotated[
        str,
        Since(2),
        "An id of the ACL rules, made of what they say: of those that decided on the request, else of those in force "
        "for the client; null without any.",
    ]
    redacted: Annotated[
        list[str],
        Since(3),
        "The kinds of names that are redacted in this event: `principal`, "
        "`client_host`, `client_id`, `tls_subject`, `topic`, `group`, `transactional_id`; null: none.",
    ]


class NotAllowed(TypedDict, total=False):
    """Of `denied`. Its request's own event follows, with the error that the client was given."""

    operation: Annotated[str, "What the client asked for: `Read`, `Write`, `Describe`, ..."]
    resource_type: Annotated[str, "The type of the resource: `topic`, `group`, `cluster`, ..."]
    resource_name: Annotated[str, "Its name."]
    rule: Annotated[str, "The rule that decided, as file:line:column; null where none allows it."]
    enforced: Annotated[bool, "False: the rules are only tried (shadow), and it was let through."]


class Parted(TypedDict, total=False):
    """Of `connection_closed`."""

    lasted_us: Annotated[int, "Microseconds for which the connection was there."]
    bytes_from_client: Annotated[int, "Bytes that the client sent."]
    bytes_from_broker: Annotated[int, "Bytes that the broker sent."]


class Claimed(TypedDict, total=False):
    """Of `authentication_failed`."""

    claimed: Annotated[
        str,
        Since(2),
        "The principal that it said it is. Null where the proxy knows no such user: it might be a mistyped password.",
    ]


class CountedWindow(TypedDict, total=False):
    """Of events that count several requests or connections."""

    window_from: Annotated[Timestamp, Since(2), "When the first of the counted requests or connections ended."]
    window_to: Annotated[Timestamp, Since(2), "When the last of them ended."]


class Summary(Asked, CountedWindow, total=False):
    """Of `summary`: what many requests of one API have in common, and their results."""

    requests: Annotated[int, Since(2), "How many there were."]
    without_answer: Annotated[int, Since(2), "How many of them wanted no answer."]
    broker_us_most: Annotated[int, Since(2), "The largest `broker_us` of one of them."]
    proxy_us_most: Annotated[int, Since(2), "The largest `proxy_us` of one of them."]


class Unserved(TypedDict, total=False):
    """Of `connection_failed`."""

    connections: Annotated[
        int,
        Since(3),
        "How many there were: one, or those that ended alike from `window_from` to `window_to`, beside the first. "
        "Where they differ too much to be told apart, the client is null.",
    ]


class Reason(TypedDict, total=False):
    """Of requests, connections and logins that ended or failed."""

    why: Annotated[str, "Why a request was answered by the proxy or not at all, a login failed, or a connection ended."]


KINDS = {
    "segment_opened": ("A segment of the journal begins.", (Opened, Redacting)),
    "events_lost": ("Events were lost here, since the journal could not take them.", (Lost,)),
    "events_unsent": (
        "Events that are in the journal are missing on the audit topic, which could not take them.",
        (Lost,),
    ),
    "journal_closed": ("The writer ended in order. It is the last event of its chain.", ()),
    "connection_opened": ("A client connected.", (Party,)),
    "connection_authenticated": ("A client proved who it is, or did so again.", (Party,)),
    "authentication_failed": ("A client did not prove who it is.", (Party, Claimed, Reason)),
    "denied": ("The rules do not allow something that a client asked for.", (Party, NotAllowed, Ended, Reason)),
    "connection_failed": (
        "A connection ended before it was served: refused, without TLS, or its broker could not be reached.",
        (Party, Unserved, CountedWindow, Reason),
    ),
    "connection_closed": ("A connection ended.", (Party, Parted, Reason)),
    "request": (
        "A request came to its end: it was answered, or it is certain that it will not be.",
        (Party, Ended, Reason),
    ),
    "summary": ("Several requests came to their end, and are counted together.", (Party, Summary)),
}


def table() -> tuple[Column, ...]:
    """Every field that an event may have."""
    return columns(EventStamp, *(section for _, sections in KINDS.values() for section in sections))


def ddl() -> str:
    """The table's columns as Spark reads them: `spark.read.schema(ddl())`."""
    return ", ".join(f"`{column.name}` {column.type}" for column in table())
