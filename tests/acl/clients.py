"""Real clients at work: produce, consume and administer, in words common to all libraries.

# A client is one user's on one side, with the names of one scenario; all of its work is done by one thread.
# What a library raises leaves as it is: `told` says what it is called in Kafka, and in the library's own words.
# A consumer polls on after a refusal, as applications may: what may be read comes all the same.
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

PATIENCE = 20.0  # seconds for what a client does
POLL = 200  # milliseconds
COMMITTED = 1  # the offset that is committed
Poll = Callable[[], Sequence[bytes]]

NAMES = ("java-4.4.0", "java-2.3.1", "java-0.11.0.3", "librdkafka", "kafka-python", "aiokafka")
# What each of them has to itself. Topics that no rule names are not to be seen.
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
        """The words without places and times, and without the insides of a broker."""
        words = re.sub(r"Request Request\(.*\) needs \w+ permission\.", "Cluster authorization failed.", words)
        return cls(name, re.sub(r"after \d+ ?ms", "after <time>", without_places(words)))


def without_places(text: str) -> str:
    """The text without where brokers listen, which is another place on each side.

    librdkafka says which of its connections it means: the first that is there, by chance.
    """
    return re.sub(rf"{HOST}:\d+(/(bootstrap|\d+))?", "<place>", text)


class Sent(NamedTuple):
    """A record; in a transaction of its own where there is an id for one.

    `group`: it commits an offset in the same transaction, of the topic that the record is sent to.
    """

    topic: str
    value: str
    transaction: str | None = None
    group: str | None = None
    idempotent: bool = False


class Read(NamedTuple):
    """What a consumer was given: values, and refusals beside them."""

    values: list[str]
    refusals: list[Told]


class Client(ABC):
    """A client of one library."""

    errors: type[Exception]  # what the library raises

    def __init__(self, who: As, names: Names) -> None:
        self.who, self.names = who, names

    def own(self, names: Sequence[str]) -> list[str]:
        """Those that are the scenario's, as it calls them."""
        return sorted(self.names.plain(name) for name in names if self.names.is_own(name))

    def consume(self, group: str, topics: Sequence[str], count: int, refused: bool, **more: Any) -> Read:
        """So many values at the least, and a refusal where one is expected; any other one ends it.

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
        except self.errors as error:  # it did not even begin
            told[self.told(error)] = None
        return Read(sorted(value.decode() for value in values), list(told))

    @abstractmethod
    def told(self, error: Any) -> Told:
        """What an error of the library says."""

    @abstractmethod
    def produce(self, sent: Sent) -> None:
        """One record, acknowledged."""

    @abstractmethod
    def consuming(
        self, group: str, topics: list[str], assigned: bool = False, matching: bool = False, **more: Any
    ) -> AbstractContextManager[Poll]:
        """A consumer that begins with the first records; what is `assigned` is not committed."""

    @abstractmethod
    def topics(self) -> list[str]:
        """All topics that it is told of."""

    @abstractmethod
    def groups(self) -> list[str]:
        """All groups that it is told of."""

    @abstractmethod
    def create(self, topic: str) -> None:
        """A topic."""

    @abstractmethod
    def delete(self, topic: str) -> None:
        """A topic."""

    @abstractmethod
    def describe(self, group: str) -> None:
        """A group."""

    def alter(self, name: str, setting: str, value: str) -> None:
        """One setting of a topic; of a group where it is one of those."""
        raise NotImplementedError

    def configs(self, topic: str) -> None:
        """The configuration of a topic."""
        raise NotImplementedError

    def rules(self) -> None:
        """All ACLs."""
        raise NotImplementedError

    def allow(self, topic: str) -> None:
        """An ACL about a topic."""
        raise NotImplementedError

    def disallow(self, topic: str) -> None:
        """The ACLs about a topic are no longer wanted."""
        raise NotImplementedError
