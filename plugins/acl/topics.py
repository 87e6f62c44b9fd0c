"""Topics: being told of them, making them and deleting them, where brokers do more than ask for each.

# Whoever asks for all topics is told of those that it may see. A topic that may not be seen looks the same whether
# there is one or not. Metadata makes a missing one only for whom may both see and make it.
# A name that stands twice in CreateTopics is wrong before anybody asks who may.
# A topic may be made by one who may not see what it is like: then its settings are hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugins.acl.answers import Listed
from plugins.acl.case import ApiError, Case
from plugins.acl.checks import CLUSTER, TOPIC, Check, Each
from plugins.acl.cluster_topics import AutoCreation, misnamed, missing
from proxy.core.decisions import Reply
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.refuse import refuse
from proxy.protocol.walk import arrays
from proxy.protocol.wire import NO_UUID
from rules import Operation

HEEDS_IDS = 12  # the version of Metadata since when topics may be asked for by id
CREATION_CAN_BE_DECLINED = 4  # the version of Metadata since when a client may say that it wants no topic made
BY_ID = 6  # the version of DeleteTopics since when topics may be named by id
ASK_METADATA = 4  # a version of Metadata that makes no topics
NOT_MADE = ErrorCode.TOPIC_AUTHORIZATION_FAILED
MISSING = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
BY_BOTH = ApiError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
BY_NEITHER = ApiError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
NAME_TWICE = ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
ID_TWICE = ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic id.")


class Told(Check):
    """Metadata: all topics, or some by name or id. Where there is an id names are not heeded: some clients send empty
    ones beside them.
    """

    answers = True
    _each = Each(Operation.DESCRIBE, TOPIC, anyway=True)
    _listed = Listed(Operation.DESCRIBE, TOPIC)

    def __init__(self) -> None:
        self._creation = AutoCreation()

    def ids(self, case: Case) -> Any:
        return self._each.ids(case)

    def judge(self, case: Case) -> Any:
        request = case.request
        if request.topics is None or (case.version == 0 and not request.topics):
            return self._listed.judge(case)
        by_id = [topic for topic in turns(request.topics) if topic.topic_id != NO_UUID]
        nameless = any(topic.name is None for topic in turns(request.topics))
        if case.version < HEEDS_IDS and (by_id or nameless):
            return case.refuse(ErrorCode.INVALID_REQUEST)
        if nameless and not by_id:  # brokers fail over it
            for topic in turns(request.topics):
                topic.name = topic.name or ""
            return case.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        if by_id and any(topic.name is not None or topic.topic_id == NO_UUID for topic in turns(request.topics)):
            request.topics, case.changed = by_id, True
            for topic in turns(by_id):
                topic.name = None
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
            t.name
            for t in turns(case.request.topics)
            if t.name is not None and not may(Operation.CREATE, TOPIC, t.name)
        }
        if not doubtful or not (yield from self._creation.is_on(case.connection, case.rights.now)):
            return
        gone = yield from missing(sorted(doubtful), max(case.version, CREATION_CAN_BE_DECLINED))
        (array,) = arrays("topics", case.version, case.request)
        refused = {
            index: ApiError(NOT_MADE)
            for index, topic in enumerate(turns(array.elements))
            if topic.name in gone and case.rights.refuses(case.api, Operation.CREATE, TOPIC, topic.name)
        }
        case.take_out(array, refused, anyway=True)


def tell_none(case: Case, response: Any) -> None:
    """Leave out all topics."""
    response.topics = []


class Described(Check):
    """DescribeTopicPartitions: who asks for all gets a list of those that it may see, page by page.

    A cursor may stand at a topic that is refused, or gone: the answer goes on from there.
    """

    answers = True
    _each = Each(Operation.DESCRIBE, TOPIC)

    def judge(self, case: Case) -> Any:
        request, cursor = case.request, case.request.cursor
        first = "" if cursor is None else cursor.topic_name
        named = {topic.name for topic in turns(request.topics)}
        if cursor is not None and (cursor.partition_index < 0 or (named and first not in named)):
            return case.refuse(ErrorCode.INVALID_REQUEST)
        if named:
            left = [topic for topic in turns(request.topics) if topic.name >= first]  # the others were told already
            case.changed = len(left) < len(request.topics)
            request.topics = left
            self._each.judge(case)
        elif not case.rights.is_shadow:
            everything = yield from case.names.ask_all()
            may = case.rights.may
            seen = sorted(name for name in turns(everything) if name >= first and may(Operation.DESCRIBE, TOPIC, name))
            if not seen:
                return Reply(refuse(case.api, case.version, request, ErrorCode.NONE))  # type: ignore[arg-type]
            request.topics = [type(request).Topic(name=name) for name in seen]
            case.changed = True
        if cursor is not None and first not in {topic.name for topic in turns(request.topics)} and request.topics:
            request.cursor, case.changed = None, True
        return None


class Made(Check):
    """CreateTopics."""

    answers = True

    def judge(self, case: Case) -> Any:
        names = Counter(topic.name for topic in turns(case.request.topics))
        (array,) = arrays("topics", case.version, case.request)
        refused = {
            index: ApiError(NOT_MADE, "Authorization failed.")
            for index, topic in enumerate(turns(array.elements))
            if names[topic.name] == 1
            and case.rights.refuses(case.api, Operation.CREATE, TOPIC, topic.name, or_cluster=Operation.CREATE)
        }
        case.take_out(array, refused)
        hidden = {topic.name for topic in turns(case.request.topics)}
        hidden = {name for name in hidden if not case.rights.may(Operation.DESCRIBE_CONFIGS, TOPIC, name)}
        if hidden and case.version >= 5 and not case.rights.is_shadow:
            case.after.append(hide_settings)
        return None


def hide_settings(case: Case, response: Any) -> None:
    """The topic was made; what it is like is not told."""
    for topic in turns(response.topics):
        if not topic.error_code and not case.rights.may(Operation.DESCRIBE_CONFIGS, TOPIC, topic.name):
            topic.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            topic.num_partitions = topic.replication_factor = -1
            topic.configs = []


class Produced(Each):
    """DescribeProducers. A name that no topic can have is wrong, whoever asks."""

    def __init__(self) -> None:
        super().__init__(Operation.READ, TOPIC, kept=True, says=True)

    def verdict(self, case: Case, element: Any) -> ApiError | None:
        wrong = misnamed(element.name)
        return super().verdict(case, element) if wrong is None else ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, wrong)


class Grown(Each):
    """CreatePartitions. A topic that stands there twice is wrong, whoever asks."""

    def __init__(self) -> None:
        super().__init__(Operation.ALTER, TOPIC)

    def errors(self, case: Case, elements: Sequence[Any]) -> dict[int, ApiError]:
        times = Counter(topic.name for topic in turns(elements))
        errors = super().errors(case, elements)
        return errors | {index: NAME_TWICE for index in turns(errors) if times[elements[index].name] > 1}


class Deleted(Each):
    """DeleteTopics: who may delete on the cluster may delete all.

    What brokers say of a request itself comes before any right: by a name and an id, by neither, by the same twice.
    Who may see a topic is told its name, or that it is missing.
    """

    def __init__(self) -> None:
        super().__init__(Operation.DELETE, TOPIC, or_cluster=Operation.DELETE, says=True)

    def judge(self, case: Case) -> Any:
        for array in self.arrays(case):
            errors = self.errors(case, array.elements)
            yield from self._look_for(case, array.elements, errors)
            case.take_out(array, errors)
        if any(self.is_named(case, refused) for refused in turns(case.refused)):
            case.after.append(self.expect)
        return None

    def errors(self, case: Case, elements: Sequence[Any]) -> dict[int, ApiError]:
        named = [(it, NO_UUID) if case.version < BY_ID else (it.name, it.topic_id) for it in turns(elements)]
        times = Counter(turns(named))
        wrong = {index: error for index, it in enumerate(turns(named)) if (error := _wrong(it[0], it[1], times[it]))}
        judged = {index: self.verdict(case, it) for index, it in enumerate(turns(elements)) if index not in wrong}
        return wrong | {index: error for index, error in judged.items() if error is not None}

    def _look_for(self, case: Case, elements: Sequence[Any], errors: dict[int, ApiError]) -> Any:
        """Say of those that the client may see whether they are missing."""
        named = {index: elements[index] if case.version < BY_ID else elements[index].name for index in turns(errors)}
        refused = self.said(NOT_MADE)
        seen = {
            index: name
            for index, name in turns(named.items())
            if errors[index] == refused and name is not None and case.rights.may(Operation.DESCRIBE, TOPIC, name)
        }
        if seen:
            gone = yield from missing(sorted(set(seen.values())), ASK_METADATA)
            errors |= {index: MISSING for index, name in turns(seen.items()) if name in gone}

    def is_named(self, case: Case, refused: Any) -> bool:
        """Is this a topic by id whose name the client may know?"""
        topic = refused.chain[-1]
        if refused.error != NOT_MADE or case.version < BY_ID or topic.name is not None:
            return False
        topic_name = case.names.get(topic.topic_id)
        return topic_name is not None and case.rights.may(Operation.DESCRIBE, TOPIC, topic_name)

    def expect(self, case: Case, response: Any) -> None:
        """Name it: the refusal repeats what was asked."""
        for refused in turns(case.refused):
            if self.is_named(case, refused):
                refused.chain[-1].name = case.names.get(refused.chain[-1].topic_id)


def _wrong(name: str | None, topic_id: bytes, times: int) -> ApiError | None:
    """What is wrong with saying so which topic is to be deleted."""
    if name is None and topic_id == NO_UUID:
        return BY_NEITHER
    if name is not None and topic_id != NO_UUID:
        return BY_BOTH
    if times > 1:
        return ID_TWICE if name is None else NAME_TWICE
    return None
