"""Topics of a cluster: which of them there are, and whether brokers make those that are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from proxy.plugin import (
    DESCRIBE_CONFIGS,
    Ask,
    Connection,
    DescribeConfigsRequest,
    ErrorCode,
    MetadataRequest,
    MetadataResponse,
    turns,
)
from proxy.plugin.fetching import MOST_ASKED, portions

BROKER = 4  # a type of config resources
AUTO_CREATE = "auto.create.topics.enable"
REMEMBERED = 60.0  # seconds for which brokers are believed to be configured as they were
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})  # brokers' own topics
LONGEST_NAME = 249
NAME = re.compile(r"[A-Za-z0-9._-]+")


class AutoCreation:
    """Whether the brokers of a cluster make topics that are missing."""

    def __init__(self) -> None:
        self._known: tuple[bool, float] | None = None  # and when they were asked

    def is_on(self, connection: Connection, now: float) -> Any:
        """Steps that give it; where it is not known, True. A broker answers for itself alone, and so for all."""
        if self._known is not None and abs(now - self._known[1]) < REMEMBERED:
            return self._known[0]
        if connection.broker_id is None or DESCRIBE_CONFIGS.key not in connection.broker_versions:
            return True
        wanted = DescribeConfigsRequest.Resource(
            resource_type=BROKER, resource_name=str(connection.broker_id), configuration_keys=[AUTO_CREATE]
        )
        answer = yield Ask(DescribeConfigsRequest(resources=[wanted]))
        said = [config.value for result in answer.results for config in result.configs if config.name == AUTO_CREATE]
        self._known = said != ["false"], now
        return self._known[0]


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
    for some in portions(topics):
        wanted = [MetadataRequest.Topic(name=name) for name in some]
        answer: MetadataResponse = yield Ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), version)
        described += answer.topics
    return described
