"""Topics: creating them, adding partitions and deleting them, where brokers do more than check each topic.

Rules:
* A name that is twice in CreateTopics is an error before any right is asked for.
* A client may create a topic whose settings it may not see. Then the answer hides the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.checks import Check, ElementCheck
from plugins.acl.cluster_topics import misnamed, missing
from plugins.acl.errors import TOPIC
from proxy.plugin import ErrorCode, turns
from proxy.plugin.schema import NO_UUID, arrays
from rules import Operation

BY_ID = 6  # the first version of DeleteTopics in which topics may be named by id
NOT_MADE = ErrorCode.TOPIC_AUTHORIZATION_FAILED
MISSING = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
BY_BOTH = ApiError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.", repeated=True)
BY_NEITHER = ApiError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.", repeated=True)
NAME_TWICE = ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
ID_TWICE = ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic id.")


class CreateTopicsCheck(Check):
    """CreateTopics."""

    answers = True

    def apply(self, checked: CheckedRequest) -> Any:
        names = Counter(topic.name for topic in turns(checked.request.topics))
        (array,) = arrays("topics", checked.version, checked.request)
        refused = {
            index: ApiError(NOT_MADE, "Authorization failed.")
            for index, topic in enumerate(turns(array.elements))
            if names[topic.name] == 1
            and checked.authorizer.refuses(
                checked.api, Operation.CREATE, TOPIC, topic.name, or_cluster=Operation.CREATE
            )
        }
        checked.take_out(array, refused)
        hidden = {topic.name for topic in turns(checked.request.topics)}
        hidden = {name for name in hidden if not checked.authorizer.may(Operation.DESCRIBE_CONFIGS, TOPIC, name)}
        if hidden and checked.version >= 5 and not checked.authorizer.is_shadow:
            checked.judging.append(hide_settings)
        return None


def hide_settings(checked: CheckedRequest, response: Any) -> None:
    """Hide the settings of topics that were created."""
    for topic in turns(response.topics):
        if not topic.error_code and not checked.authorizer.may(Operation.DESCRIBE_CONFIGS, TOPIC, topic.name):
            topic.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            topic.num_partitions = topic.replication_factor = -1
            topic.configs = []


class DescribeProducersCheck(ElementCheck):
    """DescribeProducers. A name that no topic can have is an error for every client."""

    def __init__(self) -> None:
        super().__init__(Operation.READ, TOPIC, ordered=True, says=True)

    def verdict(self, checked: CheckedRequest, element: Any) -> ApiError | None:
        wrong = misnamed(element.name)
        return (
            super().verdict(checked, element) if wrong is None else ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, wrong)
        )


class CreatePartitionsCheck(ElementCheck):
    """CreatePartitions. A topic that is named twice is an error for every client."""

    def __init__(self) -> None:
        super().__init__(Operation.ALTER, TOPIC)

    def errors(self, checked: CheckedRequest, elements: Sequence[Any]) -> dict[int, ApiError]:
        times = Counter(topic.name for topic in turns(elements))
        errors = super().errors(checked, elements)
        return errors | {index: NAME_TWICE for index in turns(errors) if times[elements[index].name] > 1}


class DeleteTopicsCheck(ElementCheck):
    """DeleteTopics: a client that may delete on the cluster may delete every topic.

    Mistakes of the request come before any right, as with brokers: a name and an id, neither, the same topic twice.
    A client that may see a topic is told its name, or that it is missing.
    """

    def __init__(self) -> None:
        super().__init__(Operation.DELETE, TOPIC, or_cluster=Operation.DELETE, says=True)

    def apply(self, checked: CheckedRequest) -> Any:
        for array in self.arrays(checked):
            errors = self.errors(checked, array.elements)
            yield from self._look_for(checked, array.elements, errors)
            checked.take_out(array, errors)
        if any(self.is_named(checked, refused) for refused in turns(checked.refused)):
            checked.judging.append(self.expect)
        return None

    def errors(self, checked: CheckedRequest, elements: Sequence[Any]) -> dict[int, ApiError]:
        named = [(it, NO_UUID) if checked.version < BY_ID else (it.name, it.topic_id) for it in turns(elements)]
        times = Counter(turns(named))
        wrong = {index: error for index, it in enumerate(turns(named)) if (error := _wrong(it[0], it[1], times[it]))}
        refused = {index: self.verdict(checked, it) for index, it in enumerate(turns(elements)) if index not in wrong}
        return wrong | {index: error for index, error in refused.items() if error is not None}

    def _look_for(self, checked: CheckedRequest, elements: Sequence[Any], errors: dict[int, ApiError]) -> Any:
        """Change the error of refused topics that are missing, where the client may see them."""
        named = {index: elements[index] if checked.version < BY_ID else elements[index].name for index in turns(errors)}
        refused = self.said(NOT_MADE)
        seen = {
            index: name
            for index, name in turns(named.items())
            if errors[index] == refused and name is not None and checked.authorizer.may(Operation.DESCRIBE, TOPIC, name)
        }
        if seen:
            gone = yield from missing(dict.fromkeys(turns(seen.values())))
            errors |= {index: MISSING for index, name in turns(seen.items()) if name in gone}

    def is_named(self, checked: CheckedRequest, refused: Any) -> bool:
        """Whether this is a refused topic by id whose name the client may know."""
        topic = refused.chain[-1]
        if refused.error != NOT_MADE or checked.version < BY_ID or topic.name is not None:
            return False
        topic_name = checked.names.get(topic.topic_id)
        return topic_name is not None and checked.authorizer.may(Operation.DESCRIBE, TOPIC, topic_name)

    def expect(self, checked: CheckedRequest, response: Any) -> None:
        """Put the name into the request's element, since the refusal repeats that element."""
        for refused in turns(checked.refused):
            if self.is_named(checked, refused):
                refused.chain[-1].name = checked.names.get(refused.chain[-1].topic_id)


def _wrong(name: str | None, topic_id: bytes, times: int) -> ApiError | None:
    """The mistake in how an element names its topic; None if there is none."""
    if name is None and topic_id == NO_UUID:
        return BY_NEITHER
    if name is not None and topic_id != NO_UUID:
        return BY_BOTH
    if times > 1:
        return ID_TWICE if name is None else NAME_TWICE
    return None
