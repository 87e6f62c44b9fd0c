"""Streams groups (KIP-1071): the topics of their topologies, and the internal topics that coordinators create for them.

Rules:
* A coordinator creates the internal topics that its group lacks at a heartbeat of any member: also later ones, when a
  topic was deleted, and also for a member that came with another topology. So at each heartbeat the group's topology
  counts as well as the member's own. It is the coordinator that is asked for it, and it is asked again when it has
  accepted a member that came with another topology.
* A member that may not create what is missing is refused. At a broker it would be accepted, and wait.
* Sources by regular expression cannot be decided on. They are refused in the words of Kafka 4.3.1, after the sources
  that are named: what is wrong is the request (42). No right is missing that an administrator could grant.
* What the coordinator does not tell, it does not get to do: the member gets its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from sys import getsizeof
from typing import Any, NamedTuple

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from plugins.acl.cluster_topics import INTERNAL, misnamed, missing
from plugins.acl.errors import CLUSTER, TOPIC
from plugins.acl.remembered import NAME, Remembered
from proxy.plugin import Ask, Decision, ErrorCode, StreamsGroupDescribeRequest, turns, values
from rules import Operation

TOPOLOGY = (
    "topology.subtopologies.source_topics",
    "topology.subtopologies.repartition_sink_topics",
    "topology.subtopologies.repartition_source_topics.name",
    "topology.subtopologies.state_changelog_topics.name",
)
LONGEST_TEXT = 8_000  # characters of a text beside an error: an answer has 32,767 bytes for it
OLDEST = 0  # the version of StreamsGroupDescribe that all brokers with streams groups know
LOOK = 5.0  # seconds for which a group's topology is remembered: its description has all members
GROUP = 1_000  # bytes of a group beside its names


class TopologyNamesCheck(Check):
    """The names in the topology of a StreamsGroupHeartbeat, validated before any right is asked for."""

    def apply(self, checked: CheckedRequest) -> Decision:
        parts = checked.request.topology.subtopologies if checked.request.topology is not None else ()
        paths = [path.removeprefix("topology.subtopologies.") for path in TOPOLOGY]
        said_in = (values(path, checked.version, part) for part in parts for path in paths)
        named = list(dict.fromkeys(name for names in said_in for name in turns(names)))
        inside = ",".join(name for name in named if name in INTERNAL)[:LONGEST_TEXT]
        if inside:
            said = f"Use of Kafka internal topics {inside} in a Kafka Streams topology is prohibited."
            return checked.refuse(ErrorCode.STREAMS_INVALID_TOPOLOGY, said)
        wrong = ",".join(name for name in turns(named) if misnamed(name) is not None)[:LONGEST_TEXT]
        if wrong or "" in named:
            said = f"Topic names {wrong} are not valid topic names."
            return checked.refuse(ErrorCode.STREAMS_INVALID_TOPOLOGY, said)
        return None


class GroupTopology(NamedTuple):
    """The internal topics of a group, and when its coordinator was asked for them."""

    internal: frozenset[str]
    asked: float


class InternalTopicsCheck(Check):
    """Internal topics that a StreamsGroupHeartbeat may have created: the member needs the right to create them."""

    answers = True

    def __init__(self) -> None:
        self._groups = Remembered[str, GroupTopology]()

    def apply(self, checked: CheckedRequest) -> Any:
        request, authorizer = checked.request, checked.authorizer
        own = request.topology.subtopologies if request.topology is not None else ()
        if any(part.source_topic_regex for part in own) and not authorizer.is_shadow:
            said = "Regular expressions for source topics are not supported yet."
            return checked.refuse(ErrorCode.INVALID_REQUEST, said)
        if own:
            checked.after.append(partial(self._answered, request.group_id, frozenset(_internal(own))))
        if request.member_epoch < 0 or authorizer.may(Operation.CREATE, CLUSTER):
            return None
        of_group, error = yield from self._of_group(checked)
        if error and not authorizer.is_shadow:
            return checked.refuse(error)
        doubtful = {
            name for name in turns({*_internal(own), *of_group}) if not authorizer.may(Operation.CREATE, TOPIC, name)
        }
        if not doubtful:
            return None
        lacking = yield from missing(doubtful)
        for name in sorted(lacking):
            if authorizer.refuses(checked.api, Operation.CREATE, TOPIC, name):
                said = f"Unauthorized to CREATE on topics {name}."
                return checked.refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, said)
        return None

    def _answered(self, group: str, own: frozenset[str], checked: CheckedRequest, response: Any) -> None:
        """The coordinator answered a member that came with a topology: the group may have another one now."""
        known = self._groups.get(group)
        if not response.error_code and known is not None and known.internal != own:
            self._groups.forget(group)

    def _of_group(self, checked: CheckedRequest) -> Any:
        """Steps that return the internal topics of the group, and the coordinator's error if it did not tell them."""
        group, now = checked.request.group_id, checked.authorizer.now
        known = self._groups.get(group)
        if known is not None and abs(now - known.asked) < LOOK:
            return known.internal, 0
        answer = yield Ask(StreamsGroupDescribeRequest(group_ids=[group], include_authorized_operations=False), OLDEST)
        for described in answer.groups:
            if described.error_code not in (0, ErrorCode.GROUP_ID_NOT_FOUND):
                return frozenset(), described.error_code
            if described.topology is None or described.topology.subtopologies is None:
                return frozenset(), 0  # the coordinator has none yet, or one that cannot work
            internal = frozenset(_internal(described.topology.subtopologies))
            names = sum(NAME + getsizeof(name) for name in turns(internal))
            self._groups.put(group, GroupTopology(internal, now), GROUP + getsizeof(group) + names)
            return internal, 0
        return frozenset(), ErrorCode.UNKNOWN_SERVER_ERROR


def _internal(parts: Iterable[Any]) -> Iterator[str]:
    """The names of internal topics in these subtopologies."""
    for part in parts:
        for topics in (part.state_changelog_topics, part.repartition_source_topics):
            for topic in turns(topics):
                yield topic.name
