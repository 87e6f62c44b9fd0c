"""A journal compared with a ledger of the requests of real clients: each request once, with the right outcome.

Errors, records and offsets are those that Kafka's own classes read. `DOORKEEPER_LEDGER=100000` makes it a long run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from plugins.audit.verify import verify
from tests.plugins.audit.audited import audited, endure, every_kind_of_fault, fault_name, work
from tests.plugins.audit.ledger import Entry, Event
from tests.plugins.faults.kinds import kinds
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka
from tests.real.cluster import Cluster
from tests.real.outcomes import Reading

REQUESTS = int(os.environ.get("DOORKEEPER_LEDGER", "2000"))
NAME = re.compile(r"\d+-[a-z_]+")  # of a fault
MOST_KINDS = 60  # more fire with this seed, and which depends on the clients' timing
WRONG = [  # what would be found if an event had it: an API, a field, and another value
    ("Produce", "errors", ["NOT_ENOUGH_REPLICAS"]),
    ("Produce", "error", "NOT_ENOUGH_REPLICAS"),
    ("Produce", "records", 7),
    ("Produce", "first_offset", 1 << 40),
    ("Produce", "partition", 7),
    ("Fetch", "last_offset", 1 << 40),
    ("Fetch", "records", 0),
    ("Fetch", "name", "payments"),
    ("Fetch", "response_bytes", 1),
]
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


def brokers(cluster: Cluster) -> dict[int, str]:
    return {node_id: broker.address for node_id, broker in cluster.brokers.items()}


def test_each_request_is_told_once_with_its_outcome(cluster: Cluster, kafka: Kafka, tmp_path: Path) -> None:
    with audited(tmp_path, brokers(cluster)) as there:
        work(there, REQUESTS, without_answer=True)
        came = there.compared()
    assert sum(came.both.values()) > REQUESTS
    assert not came.only_journal
    # A client that does not wait may have left before the proxy took its request: no broker saw that either.
    assert not any(entry.answered for entry in came.only_ledger)
    assert not came.other_outcome
    assert not verify(there.journal).remarks
    reading = Reading(kafka)
    assert not list(reading.differences(came.pairs))
    print(f"{sum(came.both.values())} requests, each told of once")
    for api, word, value in WRONG:
        assert list(reading.differences([altered(came.pairs, api, word, value)])), (api, word)


def altered(pairs: list[tuple[Entry, Event]], api: str, word: str, value: Any) -> tuple[Entry, Event]:
    """A pair of an API that moved records, whose event says something else."""
    for entry, event in pairs:
        if event["api"] == api and any(it.get("records") for it in event["resources"]):
            event = deepcopy(event)
            changed = event if word in event else next(it for it in event["resources"] if it.get("records"))
            changed[word] = value
            return entry, event
    raise AssertionError(f"no {api} moved records")


def test_every_kind_of_fault_at_random_is_told_right_too(cluster: Cluster, kafka: Kafka, tmp_path: Path) -> None:
    """A request that the proxy never read, since it closed the connection before, is only in the ledger, unanswered.

    On a connection with an answer that has a wrong size or number, the ledger cannot tell which answer is whose.
    """
    (tmp_path / "faults.yaml").write_text(every_kind_of_fault(7))
    with audited(tmp_path, brokers(cluster), more="  - faults: {rules: faults.yaml}\n") as there:
        endure(there, REQUESTS // 4)
        events = there.events()
        came = there.compared()
    assert not came.only_journal
    assert not any(entry.answered for entry in came.only_ledger)
    unclear = {event["client_port"] for event in events if "mangle" in effects(event)}
    assert not [done for done, _ in came.other_outcome if done[0] not in unclear]
    readable = [
        (entry, event)
        for entry, event in came.pairs
        if event["client_port"] not in unclear and "corrupt" not in effects(event)
    ]
    assert not list(Reading(kafka).differences(readable))
    told = set(NAME.findall(json.dumps(events)))
    names = [fault_name(position, kind) for position, kind in enumerate(kinds())]
    fired = [name for name in names if name in told]
    print(f"{came.both.total()} requests, {len(fired)} kinds of faults")
    assert len(fired) > MOST_KINDS


def effects(event: Event) -> set[str]:
    """What faults and handlers did to a request."""
    return {each["decision"] for each in event.get("decisions") or ()}
