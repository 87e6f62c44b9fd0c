"""Topics of a cluster: which exist, and whether brokers create missing ones by themselves."""

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
from proxy.plugin.schema import LONGEST_TOPIC

CREATION_CAN_BE_DECLINED = 4  # the first version of Metadata in which a client may decline the creation of topics
BROKER = 4  # a type of config resources
AUTO_CREATE = "auto.create.topics.enable"
REMEMBERED = 60.0  # seconds for which a broker's setting is cached
MOST_BROKERS = 1_000  # whose settings are cached
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})  # brokers' own topics
NAME = re.compile(r"[A-Za-z0-9._-]+")


class AutoCreation:
    """Whether the brokers of a cluster create missing topics by themselves. Each has a setting of its own."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bool, float]] = {}  # by broker: the setting, and when it was asked for

    def is_on(self, connection: Connection, now: float) -> Any:
        """Steps that return it; True where it is not known. The connection's broker is asked."""
        broker = connection.broker_id
        if broker is None or DESCRIBE_CONFIGS.key not in connection.broker_versions:
            return True
        known = self._known.get(broker)
        if known is not None and abs(now - known[1]) < REMEMBERED:
            return known[0]
        wanted = DescribeConfigsRequest.Resource(
            resource_type=BROKER, resource_name=str(broker), configuration_keys=[AUTO_CREATE]
        )
        answer = yield Ask(DescribeConfigsRequest(resources=[wanted]))
        said = [config.value for result in answer.results for config in result.configs if config.name == AUTO_CREATE]
        is_on = said != ["false"]
        while len(self._known) >= MOST_BROKERS:
            del self._known[next(iter(self._known))]
        self._known[broker] = is_on, now
        return is_on


def misnamed(name: str) -> str | None:
    """Why no topic can have this name, in Kafka's words; None if one can."""
    reason = None
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > LONGEST_TOPIC:
        reason = f"the length of '{name}' is longer than the max allowed length {LONGEST_TOPIC}"
    elif NAME.fullmatch(name) is None:
        reason = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None if reason is None else f"Topic name is invalid: {reason}"


def missing(topics: Iterable[str], version: int = CREATION_CAN_BE_DECLINED) -> Any:
    """Steps that return which of these topics do not exist. `version`: of the Metadata request."""
    topics = [*topics]
    described = yield from _described(topics, version)
    gone = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
    return {topic.name for topic in turns(described) if topic.error_code in gone}.union(topics[MOST_ASKED:])


def partitions(topics: Iterable[str]) -> Any:
    """Steps that return the partitions of each of these topics; a missing topic has none."""
    described = yield from _described(topics, CREATION_CAN_BE_DECLINED)
    return {topic.name: {one.partition_index for one in turns(topic.partitions)} for topic in turns(described)}


def _described(topics: Iterable[str], version: int) -> Any:
    described: list[MetadataResponse.Topic] = []
    for some in portions(topics):
        wanted = [MetadataRequest.Topic(name=name) for name in some]
        answer: MetadataResponse = yield Ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), version)
        described += answer.topics
    return described
