"""Fetched topics in messages of Fetch and ShareFetch: how they are asked for, forgotten and refused."""

from __future__ import annotations

from typing import Any

from plugins.acl.client_authorizer import ClientAuthorizer
from proxy.plugin import Api, ErrorCode, TopicNames
from proxy.plugin.fetching import FetchedTopic, Topic
from proxy.plugin.schema import Refusal
from rules import Operation, ResourceType

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
REFUSAL = 100  # bytes that the refusal of one partition takes until it is told


def verdict(api: Api, authorizer: ClientAuthorizer, names: TopicNames, topic: Topic) -> int | None:
    """The error with which a topic is refused; None: it may be read."""
    name = names.of(topic)
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    return REFUSED if authorizer.refuses(api, Operation.READ, ResourceType.TOPIC, name) else None


def request_topic(api: Api, fetched: FetchedTopic) -> Any:
    """A topic as a request asks for it."""
    cls: Any = api.request
    return cls.Topic(partitions=[*fetched.partitions.values()], **_named(fetched.topic))


def forgotten_topic(api: Api, fetched: FetchedTopic) -> Any:
    """A topic as a request has it forgotten."""
    cls: Any = api.request
    return cls.ForgottenTopic(partitions=[*fetched.partitions], **_named(fetched.topic))


def refused_topic(api: Api, version: int, fetched: FetchedTopic, error: int) -> Any:
    """What an answer says of a topic that was refused."""
    topic, answer = request_topic(api, fetched), api.response
    return Refusal(api, version, error, None).of(answer.Topic, (topic, topic))  # type: ignore[attr-defined]


def _named(topic: Topic) -> dict[str, Topic]:
    return {"topic_id": topic} if isinstance(topic, bytes) else {"topic": topic}
