"""Topics of one cluster by their names on the wire and by their ids."""

from __future__ import annotations

import hashlib
from typing import cast

from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.wire import NO_UUID
from tests.acl.wire import Wire


class Ids:
    """Topics of one cluster by name and by id; a name without a topic gets an id that no cluster knows."""

    def __init__(self, trusted: Wire) -> None:
        self._trusted = trusted
        self._ids: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}

    def of(self, name: str) -> bytes:
        """The current id of a topic."""
        if name not in self._ids:
            (topic,) = self._ask(MetadataRequest.Topic(name=name, topic_id=NO_UUID))
            if topic.error_code:
                missing = hashlib.md5(name.encode()).digest()
                self._names[missing] = name
                return missing
            self.learn(name, topic.topic_id)
        return self._ids[name]

    def name(self, topic_id: bytes) -> str | None:
        """The name of the topic that has this id."""
        if topic_id not in self._names:
            (topic,) = self._ask(MetadataRequest.Topic(name=None, topic_id=topic_id))
            if topic.error_code or topic.name is None:
                return None
            self.learn(topic.name, topic_id)
        return self._names[topic_id]

    def learn(self, name: str, topic_id: bytes) -> None:
        self._ids[name], self._names[topic_id] = topic_id, name

    def _ask(self, topic: MetadataRequest.Topic) -> list[MetadataResponse.Topic]:
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
        return cast(MetadataResponse, self._trusted.ask(request, 12)).topics
