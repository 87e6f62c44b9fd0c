"""Fetched topics: the structs of Fetch and ShareFetch that ask for a topic, forget it, or refuse it."""

from __future__ import annotations

from typing import Any

from plugins.acl.request_authorizer import RequestAuthorizer
from proxy.plugin import Api, ErrorCode, TopicNames
from proxy.plugin.fetching import FetchedTopic, Topic
from proxy.plugin.schema import Refusal
from rules import Operation, ResourceType

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
REFUSAL = 100  # bytes that the refusal of one partition takes until the answer leaves


def verdict(api: Api, authorizer: RequestAuthorizer, names: TopicNames, topic: Topic) -> int | None:
    """The error with which a topic is refused; None: it may be read."""
    name = names.of(topic)
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    return REFUSED if authorizer.refuses(api, Operation.READ, ResourceType.TOPIC, name) else None


def request_topic(api: Api, fetched: FetchedTopic) -> Any:
    """A topic as it stands in a request."""
    cls: Any = api.request
    return cls.Topic(partitions=[*fetched.partitions.values()], **_named(fetched.topic))


def forgotten_topic(api: Api, fetched: FetchedTopic) -> Any:
    """A topic as it stands among a request's forgotten topics."""
    cls: Any = api.request
    return cls.ForgottenTopic(partitions=[*fetched.partitions], **_named(fetched.topic))


def refused_topic(api: Api, version: int, fetched: FetchedTopic, error: int) -> Any:
    """A refused topic as it stands in an answer. Of its partitions only the indexes count."""
    topic, answer = forgotten_topic(api, fetched), api.response
    return Refusal(api, version, error, None).of(answer.Topic, (topic, topic))  # type: ignore[attr-defined]


def _named(topic: Topic) -> dict[str, Topic]:
    return {"topic_id": topic} if isinstance(topic, bytes) else {"topic": topic}
