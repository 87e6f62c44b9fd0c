"""Real clients that produce, consume and administer, with one interface for all libraries.

Rules:
* A client belongs to one user on one side, with the names of one scenario; one thread does all of its work.
* A library's errors propagate unchanged: `told` gives Kafka's name of the error and the library's words.
* A consumer polls on after a refusal, as applications may: allowed records still arrive.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tests.acl.language import Given
from tests.acl.names import Names
from tests.acl.nodes import HOST
from tests.real.records import patiently
from tests.real.secured.clients import As

PATIENCE = 20.0  # seconds for one job of a client
POLL = 200  # milliseconds
COMMITTED = 1  # the offset that is committed
Poll = Callable[[], Sequence[bytes]]

NAMES = ("java-4.4.0", "java-2.3.1", "java-0.11.0.3", "librdkafka", "kafka-python", "aiokafka")
# Each client has its own copy of these. Topics that no rule names are invisible.
GIVEN = Given.model_validate(
    {
        "topics": ("orders", "refunds", "archive", "announced", "eu-orders", "eu-closed", "secrets"),
        "records": {"archive": ("a", "b"), "eu-closed": ("c", "d")},
        "offsets": {"watched": {"archive": 1}, "hidden": {"archive": 1}},
        "acls": (
            {"allow": "User:alice", "to": ("Read", "Write"), "topics": ("orders", "refunds", "eu-*")},
            {"deny": "User:alice", "to": "Write", "topics": "eu-closed"},
            {"allow": "User:alice", "to": "Read", "topics": "archive"},
            {"allow": "User:alice", "to": "Describe", "topics": "announced"},
            {"allow": "User:alice", "to": ("DescribeConfigs", "AlterConfigs"), "topics": "eu-orders"},
            {"allow": "User:alice", "to": ("Create", "Write", "Delete"), "topics": "new-*"},
            {"allow": "User:alice", "to": "Read", "groups": "workers*"},
            {"allow": "User:alice", "to": "AlterConfigs", "groups": "workers-share"},
            {"allow": "User:alice", "to": "Describe", "groups": "watched"},
            {"allow": "User:alice", "to": ("Describe", "Write"), "transactional_ids": "payments"},
        ),
    }
)


class Told(NamedTuple):
    """A refusal: Kafka's name of the error, and the library's words."""

    name: str
    words: str

    @classmethod
    def of(cls, name: str, words: str) -> Told:
        """A refusal whose words have no addresses, no times and no internals of a broker."""
        words = re.sub(r"Request Request\(.*\) needs \w+ permission\.", "Cluster authorization failed.", words)
        return cls(name, re.sub(r"after \d+ ?ms", "after <time>", without_places(words)))


def without_places(text: str) -> str:
    """The text without addresses of brokers, which differ between the sides.

    librdkafka also names the connection; which one is up first is a matter of chance.
    """
    return re.sub(rf"{HOST}:\d+(/(bootstrap|\d+))?", "<place>", text)


class Sent(NamedTuple):
    """A record to produce; in its own transaction where `transaction` has an id.

    `group`: the same transaction commits an offset of the record's topic for this group.
    """

    topic: str
    value: str
    transaction: str | None = None
    group: str | None = None
    idempotent: bool = False


class Read(NamedTuple):
    """The result of a consumer: values, and refusals beside them."""

    values: list[str]
    refusals: list[Told]


class Client(ABC):
    """A client of one library."""

    errors: type[Exception]  # the base of the library's errors

    def __init__(self, who: As, names: Names) -> None:
        self.who, self.names = who, names

    def own(self, names: Sequence[str]) -> list[str]:
        """The names that belong to the scenario, without its prefix."""
        return sorted(self.names.plain(name) for name in names if self.names.is_own(name))

    def consume(self, group: str, topics: Sequence[str], count: int, refused: bool, **more: Any) -> Read:
        """Consume at least `count` values, and a refusal if `refused`; otherwise the first refusal ends it.

        `assigned`: it takes the first partition of each topic, and joins no group. `matching`: the topic is a
        regular expression.
        """
        values: list[bytes] = []
        told: dict[Told, None] = {}
        try:
            named = [self.names.wire(f"({topic})" if more.get("matching") else topic) for topic in topics]
            with self.consuming(self.names.wire(group), named, **more) as poll:
                for _ in patiently(f"{count} values{' and a refusal' if refused else ''}", PATIENCE):
                    try:
                        values += poll()
                    except self.errors as error:
                        told[self.told(error)] = None
                    if (told and not refused) or (len(values) >= count and bool(told) == refused):
                        break
        except self.errors as error:  # the consumer could not be created or subscribed
            told[self.told(error)] = None
        return Read(sorted(value.decode() for value in values), list(told))

    @abstractmethod
    def told(self, error: Any) -> Told:
        """An error of the library as a refusal."""

    @abstractmethod
    def produce(self, sent: Sent) -> None:
        """Produce one record, and wait for its acknowledgement."""

    @abstractmethod
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> AbstractContextManager[Poll]:
        """A consumer that begins with the first records; with `assigned` it commits no offsets."""

    @abstractmethod
    def topics(self) -> list[str]:
        """All topics that the client sees."""

    @abstractmethod
    def groups(self) -> list[str]:
        """All groups that the client sees."""

    @abstractmethod
    def create(self, topic: str) -> None:
        """Create a topic."""

    @abstractmethod
    def delete(self, topic: str) -> None:
        """Delete a topic."""

    @abstractmethod
    def describe(self, group: str) -> None:
        """Describe a group."""

    def alter(self, name: str, setting: str, value: str) -> None:
        """Alter one setting of a topic, or of a group where the setting is a group's."""
        raise NotImplementedError

    def configs(self, topic: str) -> None:
        """Describe the configuration of a topic."""
        raise NotImplementedError

    def rules(self) -> None:
        """Describe all ACLs."""
        raise NotImplementedError

    def allow(self, topic: str) -> None:
        """Create an ACL about a topic."""
        raise NotImplementedError

    def disallow(self, topic: str) -> None:
        """Delete the ACLs about a topic."""
        raise NotImplementedError
