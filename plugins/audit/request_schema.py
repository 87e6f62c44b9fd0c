"""The fields of requests in the journal's schema (`schema.py`): what was asked, about what, and the result."""

from __future__ import annotations

from typing import Annotated, TypedDict

from plugins.audit.columns import Since, Small


class Resource(TypedDict, total=False):
    """One thing that a request is about, and the result for it."""

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
    rule: Annotated[
        str,
        Since(2),
        "The ACL rule that decided on that, as file:line:column; null: none is about it. "
        "Of a summary: on its first request.",
    ]
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
        "`replace`; `reset offset`, `delete offset`, `delete records`; of transactions `commit`, `abort`; of "
        "partitions `reassign`, `cancel reassignment`, `elect`, and `move` between disks; of nodes `unregister`; of "
        "delegation tokens `renew`, `expire`.",
    ]
    type: Annotated[
        str,
        Since(2),
        "Of what: a type of resource, `feature`, `controller`, `voter`, `user quota`, `client-id quota`, `ip quota`.",
    ]
    name: Annotated[
        str,
        Since(2),
        "Its name; of quotas `<default>` for those of everybody. Null of a token that only its secret names.",
    ]
    key: Annotated[
        str,
        Since(2),
        "Its part: a config, a quota, a SCRAM mechanism, `partitions`, `replicas`, `leader`, `log dir`; of a group's "
        "offset the topic.",
    ]
    value: Annotated[
        str,
        Since(2),
        "To what: partitions, brokers, an election, a version, an offset, a quota. Never the value of a config or a "
        "credential.",
    ]
    partition: Annotated[Small, Since(2), "The partition, where it is about one."]
    principal: Annotated[str, Since(2), "Of an ACL: whom it is about; of a delegation token its owner."]
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


class Asked(TypedDict, total=False):
    """Of requests, alone and together: what was asked, and the result."""

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
    resources: Annotated[list[Resource], "The resources that it is about, and the result for each."]


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
    validate_only: Annotated[
        bool, Since(5), "True: it only asked whether a change would do, and changed nothing. Null: it was to change."
    ]
    changes_left_out: Annotated[int, Since(2), "How many more changes there are, where these are too many to be kept."]
