"""Names: what topics are called whose ids travel, and which topics there are.

# A topic's id is never used again, and a topic never gets another name: what was learnt once stays true. A topic that
# is deleted and made anew has another id, which is asked for when it comes.
# What is not known is asked of the broker, some at a time, and so many for one request. What is beyond that, or not
# known to the broker either, has no name and is not there: it is refused.
# Shared by all connections to a cluster; the oldest are forgotten beyond a limit, and asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from proxy.core.context import Connection
from proxy.core.decisions import Ask, Steps
from proxy.protocol.api import DESCRIBE_CONFIGS
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.wire import NO_UUID

BY_ID = 12  # the version of Metadata that takes ids; whoever speaks of ids has it
BROKER = 4  # a type of config resources
AUTO_CREATE = "auto.create.topics.enable"
REMEMBERED = 60.0  # seconds for which brokers are believed to be configured as they were
MOST = 200_000  # topics remembered
AT_ONCE = 1_000  # topics in one question
MOST_ASKED = 20_000  # topics that are asked about for one request
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})  # brokers' own topics
LONGEST_NAME = 249
NAME = re.compile(r"[A-Za-z0-9._-]+")

T = TypeVar("T")


class Names:
    """The names of one cluster's topics, by their ids."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}
        self._make: tuple[bool, float] | None = None  # do brokers make missing topics, and when they were asked

    def get(self, topic_id: bytes) -> str | None:
        """The topic's name, if it was learnt."""
        return self._known.get(topic_id)

    def of(self, subject: str | bytes) -> str | None:
        """The name of what a request speaks of by name or id."""
        return subject if isinstance(subject, str) else self._known.get(subject)

    def learn(self, topics: Iterable[Any]) -> None:
        """What an answer says: anything with `topic_id` and `name`."""
        for topic in turns(topics):
            if topic.name is not None and topic.topic_id != NO_UUID:
                if len(self._known) >= MOST:
                    del self._known[next(iter(self._known))]
                self._known[topic.topic_id] = topic.name

    def unknown(self, ids: Iterable[bytes]) -> list[bytes]:
        """Those that have to be asked for, each once."""
        return [
            topic_id
            for topic_id in turns(dict.fromkeys(turns(ids)))
            if topic_id not in self._known and topic_id != NO_UUID
        ]

    def ask(self, ids: Iterable[bytes]) -> Steps:
        """Learn what these are called."""
        for some in _portions(ids):
            yield from self._asked([MetadataRequest.Topic(topic_id=topic_id, name=None) for topic_id in some])
        return None

    def ask_all(self) -> Any:
        """Learn what all topics are called. Gives the names."""
        answer = yield from self._asked(None)
        return [topic.name for topic in turns(answer.topics) if topic.name is not None and not topic.error_code]

    def are_made(self, connection: Connection, now: float) -> Any:
        """Steps that give whether brokers make topics that are missing; where nobody knows, they do.

        A broker answers for itself alone, and so for all.
        """
        if self._make is not None and abs(now - self._make[1]) < REMEMBERED:
            return self._make[0]
        if connection.broker_id is None or DESCRIBE_CONFIGS.key not in connection.broker_versions:
            return True
        wanted = DescribeConfigsRequest.Resource(
            resource_type=BROKER, resource_name=str(connection.broker_id), configuration_keys=[AUTO_CREATE]
        )
        answer = yield Ask(DescribeConfigsRequest(resources=[wanted]))
        said = [config.value for result in answer.results for config in result.configs if config.name == AUTO_CREATE]
        self._make = said != ["false"], now
        return self._make[0]

    def _asked(self, topics: list[MetadataRequest.Topic] | None) -> Any:
        answer = yield Ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), BY_ID)
        self.learn(answer.topics)
        return answer


def misnamed(name: str) -> str | None:
    """Why no topic can have this name, in Kafka's words."""
    reason = None
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > LONGEST_NAME:
        reason = f"the length of '{name}' is longer than the max allowed length {LONGEST_NAME}"
    elif NAME.fullmatch(name) is None:
        reason = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None if reason is None else f"Topic name is invalid: {reason}"


def missing(topics: Iterable[str], version: int) -> Any:
    """Steps that give which of these topics there are not. `version`: in which to ask, at least 4."""
    topics = [*topics]
    described = yield from _described(topics, version)
    gone = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
    return {topic.name for topic in turns(described) if topic.error_code in gone}.union(topics[MOST_ASKED:])


def partitions(topics: Iterable[str], version: int) -> Any:
    """Steps that give which partitions each of these topics has; those that are missing have none."""
    described = yield from _described(topics, version)
    return {topic.name: {one.partition_index for one in turns(topic.partitions)} for topic in turns(described)}


def _described(topics: Iterable[str], version: int) -> Any:
    described: list[MetadataResponse.Topic] = []
    for some in _portions(topics):
        wanted = [MetadataRequest.Topic(name=name) for name in some]
        answer: MetadataResponse = yield Ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), version)
        described += answer.topics
    return described


def _portions(topics: Iterable[T]) -> Iterator[list[T]]:
    """So many as are asked about in one question, and all that are asked about for one request."""
    asked = islice(topics, MOST_ASKED)
    while some := list(islice(asked, AT_ONCE)):
        yield some
