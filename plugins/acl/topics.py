"""Topics: being told of them, making them and deleting them, where brokers do more than ask for each.

# Whoever asks for all topics is told of those that it may see. A topic that may not be seen looks the same whether
# there is one or not. Metadata makes a missing one only for whom may both see and make it.
# A name that stands twice in CreateTopics is wrong before anybody asks who may.
# A topic may be made by one who may not see what it is like: then its settings are hidden.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from plugins.acl.answers import Listed
from plugins.acl.case import Case
from plugins.acl.checks import CLUSTER, MESSAGES, TOPIC, Check, Each
from plugins.acl.names import missing
from plugins.acl.walk import arrays
from proxy.core.decisions import Reply
from proxy.protocol.errors import ErrorCode
from proxy.protocol.refuse import refuse
from proxy.protocol.wire import NO_UUID
from rules import Operation

HEEDS_IDS = 12  # the version of Metadata since when topics may be asked for by id
CREATION_CAN_BE_DECLINED = 4  # the version of Metadata since when a client may say that it wants no topic made
BY_ID = 6  # the version of DeleteTopics since when topics may be named by id
BY_BOTH = "You may not specify both topic name and topic id."
NOT_MADE = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class Told(Check):
    """Metadata: all topics, or some by name or id. Where there is an id names are not heeded: some clients send empty
    ones beside them.
    """

    answers = True
    _each = Each(Operation.DESCRIBE, TOPIC, "topics", anyway=True)
    _listed = Listed(Operation.DESCRIBE, TOPIC, "topics")

    def ids(self, case: Case) -> Any:
        return self._each.ids(case)

    def judge(self, case: Case) -> Any:
        request = case.request
        if request.topics is None or (case.version == 0 and not request.topics):
            return self._listed.judge(case)
        if any(topic.topic_id != NO_UUID for topic in request.topics):
            if case.version < HEEDS_IDS:
                return case.refuse(ErrorCode.INVALID_REQUEST)
            if any(topic.name is not None for topic in request.topics):
                request.topics = [topic for topic in request.topics if topic.topic_id != NO_UUID]
                for topic in request.topics:
                    topic.name = None
                case.changed = True
        self._each.judge(case)
        if case.version < CREATION_CAN_BE_DECLINED or request.allow_auto_topic_creation:
            yield from self._keep_from_making(case)
        if case.version == 0 and not request.topics:
            case.after.append(tell_none)  # v0 cannot ask for none: it means all
        return None

    def _keep_from_making(self, case: Case) -> Any:
        """Take out what is missing and may not be made."""
        may = case.rights.may
        if may(Operation.CREATE, CLUSTER):
            return
        doubtful = {
            t.name for t in case.request.topics if t.name is not None and not may(Operation.CREATE, TOPIC, t.name)
        }
        if not doubtful or not (yield from case.names.are_made(case.ctx.connection, case.rights.now)):
            return
        gone = yield from missing(sorted(doubtful), max(case.version, CREATION_CAN_BE_DECLINED))
        (array,) = arrays("topics", case.version, case.request)
        refused = {
            index: NOT_MADE
            for index, topic in enumerate(array.elements)
            if topic.name in gone and case.rights.refuses(case.api, Operation.CREATE, TOPIC, topic.name)
        }
        case.take_out(array, refused, anyway=True)


def tell_none(case: Case, response: Any) -> None:
    """Leave out all topics."""
    response.topics = []


class Described(Check):
    """DescribeTopicPartitions: who asks for all gets a list of those that it may see, page by page."""

    answers = True
    _each = Each(Operation.DESCRIBE, TOPIC, "topics")

    def judge(self, case: Case) -> Any:
        if case.request.topics:
            self._each.judge(case)
            if case.request.cursor is not None:  # what stands before it was told already
                first = case.request.cursor.topic_name
                case.refused = [refused for refused in case.refused if refused.chain[-1].name >= first]
            return None
        if case.rights.is_shadow:
            return None
        everything = yield from case.names.ask_all()
        seen = sorted(name for name in everything if case.rights.may(Operation.DESCRIBE, TOPIC, name))
        if not seen:
            return Reply(refuse(case.api, case.version, case.request, ErrorCode.NONE))  # type: ignore[arg-type]
        case.request.topics = [type(case.request).Topic(name=name) for name in seen]
        case.changed = True
        return None


class Made(Check):
    """CreateTopics."""

    answers = True

    def judge(self, case: Case) -> Any:
        names = Counter(topic.name for topic in case.request.topics)
        (array,) = arrays("topics", case.version, case.request)
        refused = {
            index: NOT_MADE
            for index, topic in enumerate(array.elements)
            if names[topic.name] == 1
            and case.rights.refuses(case.api, Operation.CREATE, TOPIC, topic.name, or_cluster=Operation.CREATE)
        }
        case.take_out(array, refused, {NOT_MADE: "Authorization failed."})
        hidden = {topic.name for topic in case.request.topics}
        hidden = {name for name in hidden if not case.rights.may(Operation.DESCRIBE_CONFIGS, TOPIC, name)}
        if hidden and case.version >= 5 and not case.rights.is_shadow:
            case.after.append(hide_settings)
        return None


def hide_settings(case: Case, response: Any) -> None:
    """The topic was made; what it is like is not told."""
    for topic in response.topics:
        if not topic.error_code and not case.rights.may(Operation.DESCRIBE_CONFIGS, TOPIC, topic.name):
            topic.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            topic.num_partitions = topic.replication_factor = -1
            topic.configs = []


class Deleted(Each):
    """DeleteTopics: who may delete on the cluster may delete all. By id, a topic that may be seen is named.

    A topic by both its name and its id is an error, whoever asks.
    """

    def __init__(self) -> None:
        super().__init__(Operation.DELETE, TOPIC, "topics", "topic_names", or_cluster=Operation.DELETE, says=True)
        self.messages = {**MESSAGES, ErrorCode.INVALID_REQUEST: BY_BOTH}

    def verdict(self, case: Case, element: Any) -> ErrorCode | None:
        if case.version >= BY_ID and element.name is not None and element.topic_id != NO_UUID:
            return ErrorCode.INVALID_REQUEST
        return super().verdict(case, element)

    def judge(self, case: Case) -> Any:
        super().judge(case)
        if any(self.is_named(case, refused) for refused in case.refused):
            case.after.append(self.expect)
        return None

    def is_named(self, case: Case, refused: Any) -> bool:
        """Is this a topic by id whose name the client may know?"""
        topic = refused.chain[-1]
        if refused.error != ErrorCode.TOPIC_AUTHORIZATION_FAILED or case.version < BY_ID or topic.name is not None:
            return False
        topic_name = case.names.get(topic.topic_id)
        return topic_name is not None and case.rights.may(Operation.DESCRIBE, TOPIC, topic_name)

    def expect(self, case: Case, response: Any) -> None:
        """Name it: the refusal repeats what was asked."""
        for refused in case.refused:
            if self.is_named(case, refused):
                refused.chain[-1].name = case.names.get(refused.chain[-1].topic_id)
