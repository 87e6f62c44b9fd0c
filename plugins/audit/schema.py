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

VERSION = 3


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
    rules: Annotated[str, Since(2), "An id of the ACL rules in force for it, made of what they say; null without any."]
    redacted: Annotated[
        list[str],
        Since(3),
        "Which kinds of names are not told as they are, as the rules of redaction name them: `principal`, "
        "`client_host`, `client_id`, `tls_subject`, `topic`, `group`, `transactional_id`; null: none.",
    ]


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
    first_timestamp: Annotated[int, Since(2), "The timestamp of the first record that was produced: ms since 1970."]
    last_timestamp: Annotated[int, Since(2), "The highest timestamp of the records that were produced."]
    operation: Annotated[str, Since(2), "The right that the request needs for it: `Read`, `Write`, ..."]
    rule: Annotated[str, Since(2), "The ACL rule that decides on that, as file:line:column; null: none is about it."]
    requests: Annotated[int, Since(2), "Of a summary: how many requests were about it."]
    failures: Annotated[list[Failure], Since(2), "Of a summary: those that failed. All else counts those that did not."]


class Failure(TypedDict):
    """Of a summary: requests about a resource that were answered with one error."""

    error: Annotated[str, Since(2), "The name of the error."]
    requests: Annotated[int, Since(2), "How many were answered with it."]
    records: Annotated[int, Since(2), "How many records these would have written."]


class AdminChange(TypedDict, total=False):
    """One thing that an administrator's request changes."""

    change: Annotated[
        str,
        Since(2),
        "`create`, `delete`, `grow`; of configs, quotas and credentials `set`, `unset`, `append`, `subtract`, "
        "`replace`; `reset offset`, `delete offset`, `delete records`; of transactions `commit`, `abort`.",
    ]
    type: Annotated[str, Since(2), "Of what: a type of resource, or `user quota`, `client-id quota`, `ip quota`."]
    name: Annotated[str, Since(2), "Its name; of quotas `<default>` for those of everybody."]
    key: Annotated[
        str, Since(2), "What of it: a config, a quota, a SCRAM mechanism, `partitions`; of a group's offset the topic."
    ]
    value: Annotated[
        str, Since(2), "To what: partitions, an offset, a quota. Never the value of a config or a credential."
    ]
    partition: Annotated[Small, Since(2), "The partition, where it is about one."]
    principal: Annotated[str, Since(2), "Of an ACL: whom it is about."]
    host: Annotated[str, Since(2), "Of an ACL: from where."]
    operation: Annotated[str, Since(2), "Of an ACL: `Read`, `Write`, `All`, ..."]
    permission: Annotated[str, Since(2), "Of an ACL: `Allow` or `Deny`."]
    pattern: Annotated[str, Since(2), "Of an ACL: `Literal` or `Prefixed`."]
    error: Annotated[str, Since(2), "Why it was not done; null: it was, if its request was answered."]


class HandlerDecision(TypedDict, total=False):
    """One thing that the proxy did with a request or its answer."""

    handler: Annotated[str, "The plugin and its handler: `Acl.check_request`, `RequestFaults.request`."]
    decision: Annotated[
        str,
        "`Forward` (something else was sent on), `Reply`, `Disconnect`, `Raw`, `Cut`, `failed`, ...; of a fault what "
        "it does: `error`, `delay`, ...",
    ]
    rule: Annotated[str, Since(2), "The name of the rule that it was done by, as of the fault; null: of none."]


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


class Asked(TypedDict, total=False):
    """Of requests, alone and together: what was asked, and what became of it."""

    api: Annotated[str, "Kafka's name of the API."]
    api_version: Annotated[Small, "Its version."]
    errors: Annotated[
        list[str], "The names of all errors in the answer, each once. Empty: it has none. Null: not read."
    ]
    request_bytes: Annotated[int, "The size of the request, in bytes of its frame; of a summary of all requests."]
    response_bytes: Annotated[int, "The size of the answer, in bytes of its frame; of a summary of all answers."]
    broker_us: Annotated[
        int,
        "Microseconds from when the request went to the broker until its answer began; of a summary of all of them.",
    ]
    proxy_us: Annotated[
        int, "Microseconds that the proxy took for the request and for its answer; of a summary of all of them."
    ]
    resources: Annotated[list[Resource], "What it is about, and what came of each."]


class Ended(Asked, total=False):
    """Of `request`."""

    correlation_id: Annotated[Small, "The number that the client gave the request."]
    answered_by: Annotated[str, "Who answered: `broker`, `plugin`, `proxy` or `nobody`."]
    outcome: Annotated[
        str, "`answered`, `unknown` (the client wanted no answer), or `none`: it got none; `why` says why."
    ]
    decisions: Annotated[
        list[HandlerDecision], "What the proxy did with it and with its answer, in order; null: nothing."
    ]
    resources_left_out: Annotated[int, "How many more it is about, where these are too many to be kept."]
    changes: Annotated[list[AdminChange], Since(2), "What it was to change, as an administrator does; null: nothing."]
    changes_left_out: Annotated[int, Since(2), "How many more changes there are, where these are too many to be kept."]


class Claimed(TypedDict, total=False):
    """Of `authentication_failed`."""

    claimed: Annotated[
        str,
        Since(2),
        "The principal that it said it is. Null where the proxy knows no such user: it might be a mistyped password.",
    ]


class CountedWindow(TypedDict, total=False):
    """Of what is told together."""

    window_from: Annotated[Timestamp, Since(2), "When the first of the requests or connections ended that are counted."]
    window_to: Annotated[Timestamp, Since(2), "When the last of them ended."]


class Summary(Asked, CountedWindow, total=False):
    """Of `summary`: what many requests of one API have in common, and what came of them."""

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
    """Of what ended or failed."""

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
    "summary": ("Requests came to their end that are told together.", (Party, Summary)),
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
