"""Topic names: the names of topics that requests name by id, and which topics exist.

Rules:
* A topic's id is never used again, and a topic never gets another name: a name that was learnt stays true. A topic that
  is deleted and made anew has another id, whose name is asked for when the id comes.
* The broker is asked for unknown names, some at a time, and only so many for one request. A topic beyond that, or
  unknown to the broker too, has no name.
* Only the broker's answers to questions of ours are learnt. An answer that leaves for a client may say anything: a
  plugin can change it, and a refusal repeats whatever pair of name and id the client sent.
* The names are shared by all connections to a cluster. Beyond a limit the oldest are forgotten, and asked for again.
* A name longer than Kafka's longest is not remembered: brokers that invent names take no memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from proxy.core.decisions import Ask, Steps
from proxy.protocol.fiber import turns
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.wire import LONGEST_TOPIC, NO_UUID

BY_ID = 12  # the version of Metadata that takes ids; every broker that uses ids has it
MOST = 200_000  # topics remembered
AT_ONCE = 1_000  # topics in one question
MOST_ASKED = 20_000  # topics that are asked about for one request

T = TypeVar("T")


class TopicNames:
    """The names of one cluster's topics, by their ids."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def get(self, topic_id: bytes) -> str | None:
        """The topic's name, if it was learnt."""
        return self._known.get(topic_id)

    def of(self, subject: str | bytes) -> str | None:
        """The name of a topic that a request names by name or id."""
        return subject if isinstance(subject, str) else self._known.get(subject)

    def learn(self, topics: Iterable[Any]) -> None:
        """Learn from the topics of a broker's answer to a question of ours: objects with `topic_id` and `name`."""
        for topic in turns(topics):
            if topic.name is not None and topic.topic_id != NO_UUID and len(topic.name) <= LONGEST_TOPIC:
                if len(self._known) >= MOST:
                    del self._known[next(iter(self._known))]
                self._known[topic.topic_id] = topic.name

    def unknown(self, ids: Iterable[bytes]) -> list[bytes]:
        """The ids that have to be asked for, each once."""
        return [
            topic_id
            for topic_id in turns(dict.fromkeys(turns(ids)))
            if topic_id not in self._known and topic_id != NO_UUID
        ]

    def ask(self, ids: Iterable[bytes]) -> Steps:
        """Learn the names of these ids."""
        for some in portions(ids):
            yield from self._asked([MetadataRequest.Topic(topic_id=topic_id, name=None) for topic_id in some])
        return None

    def ask_all(self) -> Any:
        """Learn the names of all topics, and return them."""
        answer = yield from self._asked(None)
        return [topic.name for topic in turns(answer.topics) if topic.name is not None and not topic.error_code]

    def _asked(self, topics: list[MetadataRequest.Topic] | None) -> Any:
        answer = yield Ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), BY_ID)
        self.learn(answer.topics)
        return answer


def portions(topics: Iterable[T]) -> Iterator[list[T]]:
    """The topics in portions for one question each, up to the most for one request."""
    asked = islice(topics, MOST_ASKED)
    while some := list(islice(asked, AT_ONCE)):
        yield some
