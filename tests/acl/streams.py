"""Kafka Streams applications that count the records of each key, and their results.

Rules:
* An application creates its internal topics; in a streams group (KIP-1071) the broker creates them.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.acl.language import Given

COUNTED = [1, 2, 3]


class Job(NamedTuple):
    """An application and its result: its counts, or the state that it ends in."""

    name: str
    app: str
    source: str
    comes: object
    settings: dict[str, str]


STREAMS = {"group.protocol": "streams"}
EXACTLY_ONCE = {"processing.guarantee": "exactly_once_v2"}
JOBS = [
    Job("counts", "counter-a", "orders", COUNTED, {}),
    Job("counts exactly once", "counter-b", "orders", COUNTED, EXACTLY_ONCE),
    Job("counts in a streams group", "counter-c", "orders", COUNTED, STREAMS),
    Job("counts exactly once in a streams group", "counter-d", "orders", COUNTED, STREAMS | EXACTLY_ONCE),
    Job("may not read its source", "counter-e", "secrets", "ERROR", {}),
    Job("may not read its source, in a streams group", "counter-f", "secrets", "ERROR", STREAMS),
    Job("may not be a group", "nobody-a", "orders", "ERROR", {}),
    Job("may not be a streams group", "nobody-b", "orders", "ERROR", STREAMS),
    Job("may not make its own topics", "stranger-a", "orders", "ERROR", {}),
    Job("may not have its own topics made", "stranger-b", "orders", "ERROR", STREAMS),
]
GIVEN = Given.model_validate(
    {
        "topics": ("orders", "secrets", *(f"counts-{job.app}" for job in JOBS)),
        "acls": (
            {"allow": "User:alice", "to": ("Write", "Read"), "topics": ("orders", "counts-*")},
            {"allow": "User:alice", "to": "Read", "groups": ("counter-*", "stranger-*", "readers")},
            {"allow": "User:alice", "to": ("Create", "Read", "Write", "Describe"), "topics": "counter-*"},
            {"allow": "User:alice", "to": ("Describe", "Write"), "transactional_ids": "counter-*"},
        ),
    }
)
