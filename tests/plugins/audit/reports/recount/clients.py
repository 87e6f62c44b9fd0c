"""Which client programs there are, and which of them Kafka 4 would refuse."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, since, until

# API versions of generated months that Kafka 4.0 brokers no longer accept, from Kafka's message definitions.
OLDEST = {
    "Produce": 3,
    "Fetch": 4,
    "ListOffsets": 1,
    "OffsetCommit": 2,
    "JoinGroup": 2,
    "CreateTopics": 2,
    "DeleteTopics": 1,
    "CreateAcls": 1,
    "DeleteAcls": 1,
    "DescribeAcls": 1,
}


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | None, ...], list[Event]] = {}
    requests = [event for event in events if event["kind"] in ("request", "summary")]
    said = {_connection(event): event["client_software"] for event in requests if event.get("client_software")}
    for event in requests:
        key = event.get("principal"), event.get("client_id"), said.get(_connection(event))
        found.setdefault(key, []).append(event)
    for key, asked in found.items():
        hosts = {event["client_host"] for event in asked}
        old = [event for event in asked if event["api_version"] < OLDEST.get(event["api"], 0)]
        named = ", ".join(sorted({f"{event['api']} v{event['api_version']}" for event in old}))
        many, too_old = (sum(event.get("requests", 1) for event in some) for some in (asked, old))
        yield *key, len(hosts), many, too_old, named, min(map(since, asked)), max(map(until, asked))


def _connection(event: Event) -> tuple[str, int, int]:
    return event["instance"], event["worker"], event["connection"]
