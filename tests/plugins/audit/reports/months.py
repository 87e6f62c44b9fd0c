"""Generated months of a proxy's events, by seed, for reports and for the recounts that check them.

    happenings = month(seed=7, connections=200)          # in the order in which they entered the journal
    events = stamped(happenings)                         # as dicts, as in a journal
    write_journal(folder, happenings)                    # with the real writer: segments, chains, seals

A month of any seed has: every kind of event; malicious names; failed logins, single and in bursts; denials, enforced
and in shadow mode; administrators' actions, by day and by night; a day without events; the hours in which the clocks
of Zurich change; late events; lost events.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from plugins.audit.columns import columns
from plugins.audit.lines import timestamp
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.schema import Summary
from tests.plugins.audit.reports.people import (
    ADMINS,
    CONSUMERS,
    HARMFUL,
    NEWCOMERS,
    PRODUCERS,
    STRANGERS,
    Person,
)

MARCH = datetime(2026, 3, 1, tzinfo=UTC)  # on the 29th at 01:00 UTC the clocks of Zurich change from 02:00 to 03:00
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)  # on the 25th at 01:00 UTC they change from 03:00 back to 02:00
DAYS = 31
EMPTY_DAY = 14  # the day of the month, from 0 on
DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0
LATE = 3 * HOUR
WORKERS = 2

Fields = dict[str, Any]
SUMMED = {column.name for column in columns(Summary)}


class Happening(NamedTuple):
    """One event that a worker puts into its journal, with its time in seconds since 1970."""

    put: float
    worker: int
    entry: QueuedEvent | Loss


def month(seed: int, connections: int = 60, start: datetime = MARCH) -> list[Happening]:
    """A month with this many connections, each of up to 20 requests, and with the events of every month."""
    made = _Month(random.Random(seed), start.timestamp())
    for _ in range(connections):
        made.connection()
    made.always()
    return sorted(made.happenings, key=lambda one: (one.put, one.worker))


class _Month:
    def __init__(self, dice: random.Random, start: float) -> None:
        self.happenings: list[Happening] = []
        self._dice = dice
        self._start = start
        self._connections = 0
        self._offsets: dict[tuple[str, int], int] = {}

    def connection(self) -> None:
        """The events of one connection: a user connects at a random time, and sends its usual requests."""
        dice = self._dice
        at = self._moment()
        is_second_half = at > self._start + DAYS / 2 * DAY
        kind = dice.choices(("produce", "consume", "admin", "strange"), (40, 45, 8, 7))[0]
        if kind == "strange":
            self._failing(dice.choice(STRANGERS), at)
            return
        people = {
            "produce": PRODUCERS,
            "consume": CONSUMERS + (NEWCOMERS if is_second_half else ()),
            "admin": ADMINS,
        }[kind]
        self._working(dice.choice(people), at, kind)

    def always(self) -> None:
        """The events of every month, however small."""
        for person, kind in ((PRODUCERS[3], "produce"), (CONSUMERS[4], "consume"), (ADMINS[0], "admin")):
            self._working(person, self._start + 2 * DAY + 9 * HOUR, kind)
        for number in range(8):  # a burst of failed logins, and then a successful one
            self._failing(STRANGERS[0], self._start + 5 * DAY + 3 * HOUR + number * 20)
        self._working(replace(PRODUCERS[2], host=STRANGERS[0].host), self._start + 5 * DAY + 3 * HOUR + 400, "produce")
        for change in (28 * DAY, 24 * DAY):  # the clock changes of March and of October
            for minutes in (-90, -30, 30, 90):
                self._working(CONSUMERS[0], self._start + change + HOUR + minutes * MINUTE, "consume")
        for number in range(4):
            loss = Loss(self._start + (8 + number) * DAY)
            for second in range(number + 1):
                loss.add(self._start + (8 + number) * DAY + second)
            self.happenings.append(Happening(loss.until, number % WORKERS, loss))
        refused = self._start + 9 * DAY + 4 * HOUR
        host = {"cluster": "main", "listener": "clients", "client_host": STRANGERS[0].host}
        self._told("connection_failed", refused, {**host, "client_port": 40_000, "why": "no TLS", "connections": 1})
        more = {"connections": 7, "window_from": timestamp(refused + 1), "window_to": timestamp(refused + 8)}
        self._told("connection_failed", refused + 10, {**host, "why": "no TLS", **more})
        known = {"principal": "User:alice", "tls": "TLSv1.3 TLS_AES_128_GCM_SHA256", "broker": 2}
        self._told(
            "connection_failed", refused + 20, {**host, **known, "why": "kafka-2:9092: no answer", "connections": 1}
        )
        lost = {"lost": 3, "lost_from": timestamp(refused), "lost_to": timestamp(refused + 60)}
        self._told("events_unsent", refused + 90, lost)

    def _told(self, kind: str, at: float, fields: Fields) -> None:
        """An event without a connection."""
        self.happenings.append(Happening(at, 0, QueuedEvent(kind, at, None, fields)))

    def _moment(self) -> float:
        """A random time: more often by day than by night, and never on the empty day."""
        day = self._dice.choice([day for day in range(DAYS - 1) if day != EMPTY_DAY])
        hour = self._dice.choices(range(23), [1] * 6 + [6] * 12 + [1] * 5)[0]
        return self._start + day * DAY + hour * HOUR + self._dice.randrange(3_600_000) / 1000

    def _put(self, kind: str, at: float, connection: int, person: Person, fields: Fields) -> None:
        late = LATE if self._dice.random() < 0.01 and (at - self._start) % DAY < 20 * HOUR else 0.0
        party = {"connection": connection, **person.party, "client_port": 40_000 + connection % 20_000}
        if kind in ("request", "summary"):
            party["broker"] = connection % 3 + 1
        if fields.get("api") == "Produce" and "resources" in fields:
            fields = {**fields, "resources": [_dated(one, at, connection) for one in fields["resources"]]}
        event = QueuedEvent(kind, round(at, 6), None, {**party, **fields})
        self.happenings.append(Happening(at + late, connection % WORKERS, event))

    def _failing(self, person: Person, at: float) -> None:
        self._connections += 1
        number = self._connections
        self._put("connection_opened", at, number, person, {})
        why = self._dice.choice(("the password is wrong", HARMFUL[0], "there is no such user"))
        claimed = self._dice.choice((None, "User:admin", f"User:{HARMFUL[1]}"))
        said = {"why": why} if claimed is None else {"why": why, "claimed": claimed}
        self._put("authentication_failed", at + 0.2, number, person, said)
        self._put("connection_closed", at + 0.3, number, person, _parted(300_000, 120, 60, "authentication failed"))

    def _working(self, person: Person, at: float, kind: str) -> None:
        self._connections += 1
        number = self._connections
        self._put("connection_opened", at, number, person, {})
        if person.mechanism is not None:
            self._put("connection_authenticated", at + 0.05, number, person, {})
        moment = at + 0.1
        for correlation, (name, fields) in enumerate(self._asked(person, kind), 1):
            moment += self._dice.randrange(1, 20_000) / 1000
            if name == "request":
                fields["correlation_id"] = correlation
            if name == "summary":
                window = {"window_from": timestamp(moment), "window_to": timestamp(moment + 9)}
                fields, moment = {**fields, **window}, moment + 10
            self._put(name, moment, number, person, fields)
        lasted = round((moment + 1 - at) * 1e6)
        why = self._dice.choice((None, "the client closed", "idle for too long"))
        parted = _parted(lasted, self._dice.randrange(10_000), self._dice.randrange(10**7), why)
        self._put("connection_closed", moment + 1, number, person, parted)

    def _asked(self, person: Person, kind: str) -> Iterator[tuple[str, Fields]]:
        requests = _Requests(self._dice, person, self._offsets)
        yield "request", requests.said("ApiVersions", 3 if person.software.others > 2 else 0)
        if kind == "admin":
            for _ in range(self._dice.randrange(1, 8)):
                yield "request", requests.administration()
            return
        yield "request", requests.metadata()
        for topic in person.forbidden:
            yield from requests.refused("Produce" if kind == "produce" else "Fetch", topic)
        if kind == "consume":
            for group in person.groups:
                yield from (("request", fields) for fields in requests.joining(group))
        for _ in range(self._dice.randrange(1, 18)):
            if self._dice.random() < 0.3:
                yield "summary", requests.summary(kind)
                continue
            yield "request", requests.produce() if kind == "produce" else requests.fetch()
            if kind == "consume" and self._dice.random() < 0.3:
                yield "request", requests.commit()


class _Requests:
    """The requests of one client, with their outcomes."""

    def __init__(self, dice: random.Random, person: Person, offsets: dict[tuple[str, int], int]) -> None:
        self._dice = dice
        self._person = person
        self._offsets = offsets

    def said(self, api: str, version: int, resources: list[Fields] | None = None, **more: Any) -> Fields:
        """A request and its outcome; now and then with an injected fault."""
        dice = self._dice
        errors = sorted({one["error"] for one in resources or () if "error" in one})
        fields: Fields = {
            "api": api,
            "api_version": version,
            "answered_by": "broker",
            "outcome": "answered",
            "request_bytes": dice.randrange(40, 4_000),
            "response_bytes": dice.randrange(20, 100_000),
            "broker_us": dice.randrange(200, 90_000),
            "proxy_us": dice.randrange(20, 900),
            "errors": errors,
            "resources": resources or [],
            **more,
        }
        if dice.random() < 0.02:
            named = {"handler": "faults", "decision": "delay", "rule": f"slow-{api}"}
            fields["decisions"] = [{"handler": "RequestFaults.request", "decision": "Forward"}, named]
        if dice.random() < 0.02:
            for name in ("response_bytes", "broker_us", "proxy_us", "errors"):
                del fields[name]
            fields |= {"answered_by": "nobody", "outcome": "none", "why": "the broker closed"}
        return fields

    def metadata(self) -> Fields:
        topics = [{"type": "topic", "name": name} for name in self._person.topics]
        return self.said("Metadata", self._person.software.metadata, topics)

    def refused(self, api: str, topic: str) -> Iterator[tuple[str, Fields]]:
        enforced = self._dice.random() < 0.7
        version = self._person.software.produce if api == "Produce" else self._person.software.fetch
        denied = {
            "api": api,
            "operation": "Write" if api == "Produce" else "Read",
            "resource_type": "topic",
            "resource_name": topic,
            "why": "no rule allows it",
            "enforced": enforced,
        }
        if self._dice.random() < 0.5:
            denied |= {"rule": "acl.yaml:7:5", "why": "a rule that denies"}
        yield "denied", denied
        resource: Fields = {"type": "topic", "name": topic, "partition": 0}
        if enforced:
            resource["error"] = "TOPIC_AUTHORIZATION_FAILED"
        fields = self.said(api, version, [resource])
        if enforced and fields["answered_by"] != "nobody":
            fields["answered_by"] = "plugin"
            fields["decisions"] = [{"handler": "Acl.check_request", "decision": "Reply"}]
        yield "request", fields

    def joining(self, group: str) -> Iterator[Fields]:
        version = self._person.software.others
        for api in ("FindCoordinator", "JoinGroup", "SyncGroup"):
            yield self.said(api, version, [{"type": "group", "name": group}])

    def commit(self) -> Fields:
        group = self._dice.choice(self._person.groups)
        topic = self._dice.choice(self._person.topics)
        resources: list[Fields] = [{"type": "group", "name": group}, {"type": "topic", "name": topic, "partition": 0}]
        return self.said("OffsetCommit", self._person.software.others, resources)

    def produce(self) -> Fields:
        resources = list(self._partitions(writes=True))
        fields = self.said("Produce", self._person.software.produce, resources)
        if self._dice.random() < 0.05 and fields["outcome"] == "answered":
            for name in ("response_bytes", "broker_us", "proxy_us", "errors"):
                del fields[name]
            fields |= {"answered_by": "nobody", "outcome": "unknown"}
        return fields

    def fetch(self) -> Fields:
        return self.said("Fetch", self._person.software.fetch, list(self._partitions(writes=False)))

    def summary(self, kind: str) -> Fields:
        """A summary of many requests; for some resources, some requests failed."""
        dice = self._dice
        api, version = ("Produce", "produce") if kind == "produce" else ("Fetch", "fetch")
        resources = list(self._partitions(writes=kind == "produce"))
        for resource in resources:
            resource["requests"] = dice.randrange(1, 20)
            failures = []
            if "error" in resource:
                failures = [{"error": resource.pop("error"), "requests": resource["requests"], "records": 3}]
            elif dice.random() < 0.3:
                resource["requests"] += 2
                failures = [{"error": "TOPIC_AUTHORIZATION_FAILED", "requests": 2, "records": 0}]
            if failures:
                resource["failures"] = failures
        errors = {one["error"] for resource in resources for one in resource.get("failures", ())}
        fields = self.said(api, getattr(self._person.software, version), resources, errors=sorted(errors))
        kept = {name: value for name, value in fields.items() if name in SUMMED}
        return {**kept, "requests": max(one["requests"] for one in resources), "without_answer": 0}

    def _partitions(self, writes: bool) -> Iterator[Fields]:
        dice = self._dice
        topic = dice.choice(self._person.topics)
        for partition in sorted(dice.sample(range(6), dice.randrange(1, 4))):
            resource: Fields = {"type": "topic", "name": topic, "partition": partition}
            if dice.random() < 0.1:
                resource["id"] = "AAAAAAAAAAAAAAAAAAAAAQ"
            if dice.random() < 0.05:
                resource["error"] = dice.choice(("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"))
            elif self._person.software.produce < 3:
                resource["bytes"] = dice.randrange(1, 9_000)  # compressed records of old clients are not counted
            else:
                records = dice.randrange(0, 50)
                resource |= {"records": records, "bytes": records * dice.randrange(50, 400)}
                if records:
                    end = self._offsets.get((topic, partition), 0)
                    first = end if writes else dice.randrange(0, end + 1)
                    resource |= {"first_offset": first, "last_offset": first + records - 1}
                    self._offsets[topic, partition] = max(end, first + records)
            yield resource

    def administration(self) -> Fields:
        dice = self._dice
        topic = dice.choice(("orders", "payments", "patients", HARMFUL[0], "scratch-1"))
        group = dice.choice(("warehouse-a", "lab-1", HARMFUL[3]))
        api, resources, changes = dice.choice(_administration(topic, group, dice.choice(("alice", HARMFUL[6]))))
        error = dice.choice(("CLUSTER_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PARTITION"))
        failed = dice.random() < 0.2
        if failed:
            resources = [{**one, "error": error} for one in resources]
            changes = [one if one["type"].endswith("quota") else {**one, "error": error} for one in changes]
        fields = self.said(api, min(self._person.software.others, 2), resources)
        if failed and "errors" in fields:
            fields["errors"] = [error]
        if changes:
            return {**fields, "changes": changes}
        return {**fields, "validate_only": True} if api in ("CreateTopics", "UpdateFeatures") else fields


def _dated(resource: Fields, at: float, connection: int) -> Fields:
    """Add the timestamps of its records: shortly before the request, or after it where the client's clock is ahead."""
    if not resource.get("records"):
        return resource
    sent = int(at * 1000) + (5_000 if connection % 7 == 0 else -connection % 50)
    return {**resource, "first_timestamp": sent - 10, "last_timestamp": sent}


def _administration(topic: str, group: str, user: str) -> tuple[tuple[str, list[Fields], list[Fields]], ...]:
    """Administrators' requests: the API, its resources, and its changes."""
    of_topic: Fields = {"type": "topic", "name": topic}
    of_group: Fields = {"type": "group", "name": group}
    of_broker: Fields = {"type": "broker", "name": "1"}
    of_user: Fields = {"type": "user", "name": user}
    records = {**of_topic, "partition": 0}
    acl = {"pattern": "Literal", "principal": "User:bob", "host": "*", "operation": "Read", "permission": "Allow"}
    feature = {"change": "set", "type": "feature", "name": "share.version", "value": "1"}
    quota = {"change": "set", "type": "user quota", "name": "<default>", "key": "rate", "value": "1024"}
    return (
        ("CreateTopics", [of_topic], [{"change": "create", "key": "partitions", "value": "6", **of_topic}]),
        ("CreateTopics", [of_topic], []),  # it only validates the change
        ("DeleteTopics", [of_topic], [{"change": "delete", **of_topic}]),
        ("CreatePartitions", [of_topic], [{"change": "grow", "key": "partitions", "value": "9", **of_topic}]),
        ("DeleteRecords", [records], [{"change": "delete records", "key": "before offset", "value": "7", **records}]),
        ("IncrementalAlterConfigs", [of_broker], [{"change": "set", "key": "log.retention.ms", **of_broker}]),
        ("CreateAcls", [of_topic, of_group], [{"change": "create", **one, **acl} for one in (of_topic, of_group)]),
        ("DeleteAcls", [of_topic], [{"change": "delete", **of_topic, **acl}]),
        ("AlterClientQuotas", [], [quota]),
        ("AlterUserScramCredentials", [of_user], [{"change": "set", "key": "SCRAM-SHA-256", **of_user}]),
        ("OffsetDelete", [of_group, of_topic], [{"change": "delete offset", "key": topic, **of_group}]),
        ("DeleteGroups", [of_group], [{"change": "delete", **of_group}]),
        ("ElectLeaders", [records], [{"change": "elect", "key": "leader", "value": "unclean", **records}]),
        ("UpdateFeatures", [], [feature]),
        ("UpdateFeatures", [], []),  # it only validates the change
        ("EndTxn", [], [{"change": "commit", "type": "transactional_id", "name": "t-1"}]),
        ("DescribeAcls", [of_topic], []),
    )


def _parted(lasted: int, from_client: int, from_broker: int, why: str | None) -> Fields:
    fields: Fields = {"lasted_us": lasted, "bytes_from_client": from_client, "bytes_from_broker": from_broker}
    return fields if why is None else {**fields, "why": why}
