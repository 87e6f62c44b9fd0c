"""Metadata and DescribeTopicPartitions: which topics a client sees.

Rules:
* A client that asks for all topics gets those that it may see. For a topic that it may not see, the answer is the same
  whether the topic exists or not. Metadata creates a missing topic only for a client that may both see and create it.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.answers import ListFilter
from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.checks import Check, ElementCheck
from plugins.acl.cluster_topics import CREATION_CAN_BE_DECLINED, AutoCreation, missing
from plugins.acl.errors import CLUSTER, TOPIC
from proxy.plugin import ErrorCode, Reply, refuse, turns
from proxy.plugin.schema import NO_UUID, arrays
from rules import Operation

HEEDS_IDS = 12  # the first version of Metadata in which topics may be asked for by id
NOT_MADE = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class MetadataCheck(Check):
    """Metadata: all topics, or some by name or id.

    A request with an id goes by ids alone: some clients send empty names beside them.
    """

    answers = True
    _each = ElementCheck(Operation.DESCRIBE, TOPIC, anyway=True)
    _listed = ListFilter(Operation.DESCRIBE, TOPIC)

    def __init__(self) -> None:
        self._creation = AutoCreation()

    def ids(self, checked: CheckedRequest) -> Any:
        return self._each.ids(checked)

    def apply(self, checked: CheckedRequest) -> Any:
        request = checked.request
        if request.topics is None or (checked.version == 0 and not request.topics):
            return self._listed.apply(checked)
        by_id = [topic for topic in turns(request.topics) if topic.topic_id != NO_UUID]
        nameless = any(topic.name is None for topic in turns(request.topics))
        if checked.version < HEEDS_IDS and (by_id or nameless):
            return checked.refuse(ErrorCode.INVALID_REQUEST)
        if nameless and not by_id:  # brokers fail with an exception
            for topic in turns(request.topics):
                topic.name = topic.name or ""
            return checked.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        if by_id and any(topic.name is not None or topic.topic_id == NO_UUID for topic in turns(request.topics)):
            request.topics, checked.changed = by_id, True
            for topic in turns(by_id):
                topic.name = None
        self._each.apply(checked)
        if checked.version < CREATION_CAN_BE_DECLINED or request.allow_auto_topic_creation:
            yield from self._keep_from_making(checked)
        if checked.version == 0 and not request.topics:
            checked.after.append(tell_none)  # in v0 no topics means all topics
        return None

    def _keep_from_making(self, checked: CheckedRequest) -> Any:
        """Take out topics that are missing and that the client may not create."""
        may = checked.authorizer.may
        if may(Operation.CREATE, CLUSTER):
            return
        doubtful = dict.fromkeys(
            t.name
            for t in turns(checked.request.topics)
            if t.name is not None and not may(Operation.CREATE, TOPIC, t.name)
        )
        if not doubtful or not (yield from self._creation.is_on(checked.connection, checked.authorizer.now)):
            return
        gone = yield from missing(doubtful, max(checked.version, CREATION_CAN_BE_DECLINED))
        (array,) = arrays("topics", checked.version, checked.request)
        refused = {
            index: ApiError(NOT_MADE)
            for index, topic in enumerate(turns(array.elements))
            if topic.name in gone and checked.authorizer.refuses(checked.api, Operation.CREATE, TOPIC, topic.name)
        }
        checked.take_out(array, refused, anyway=True)


def tell_none(checked: CheckedRequest, response: Any) -> None:
    """Leave out all topics."""
    response.topics = []


class DescribeTopicPartitionsCheck(Check):
    """DescribeTopicPartitions: a client that asks for all topics gets those that it may see, page by page.

    A cursor may name a topic that is refused or gone: the answer goes on from that name.
    """

    answers = True
    _each = ElementCheck(Operation.DESCRIBE, TOPIC)

    def apply(self, checked: CheckedRequest) -> Any:
        request, cursor = checked.request, checked.request.cursor
        first = "" if cursor is None else cursor.topic_name
        named = {topic.name for topic in turns(request.topics)}
        if cursor is not None and (cursor.partition_index < 0 or (named and first not in named)):
            return checked.refuse(ErrorCode.INVALID_REQUEST)
        if named:
            left = [topic for topic in turns(request.topics) if topic.name >= first]  # the others were in earlier pages
            checked.changed = len(left) < len(request.topics)
            request.topics = left
            self._each.apply(checked)
        elif not checked.authorizer.is_shadow:
            everything = yield from checked.names.ask_all()
            may = checked.authorizer.may
            seen = sorted(name for name in turns(everything) if name >= first and may(Operation.DESCRIBE, TOPIC, name))
            if not seen:
                return Reply(refuse(checked.api, checked.version, request, ErrorCode.NONE))  # type: ignore[arg-type]
            request.topics = [type(request).Topic(name=name) for name in seen]
            checked.changed = True
        if cursor is not None and first not in {topic.name for topic in turns(request.topics)} and request.topics:
            request.cursor, checked.changed = None, True
        return None
