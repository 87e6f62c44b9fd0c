"""Subscriptions: the topics of a group's member, also where it gives a regular expression (KIP-848).

Rules:
* A broker would assign a member every topic that its expression matches. So the proxy resolves the expression against
  the topics that the client may see, and sends names to the broker: a member is never assigned another topic.
* A member sends its expression once. Later heartbeats are read: when topics come and go, or the rules change, the next
  heartbeat carries the new names to the broker.
* As at a broker, a heartbeat that is not accepted changes nothing: it may come from somebody who is no member. A member
  that joins begins anew.
* Expressions are RE2's, which take linear time. They match whole names.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from plugins.acl.cluster_topics import INTERNAL, misnamed
from plugins.acl.errors import CLUSTER, TOPIC
from plugins.acl.regex import LONGEST, BadExpressionError, matching
from proxy.plugin import Call, Decision, ErrorCode, turns, values
from rules import Operation

LOOK = 5.0  # seconds between two resolutions of a member's expression, for topics that come and go
MOST = 100_000  # members remembered
ROOM = 64 << 20  # bytes for all members; beyond it the oldest are forgotten
NAME = 60  # bytes of a name beside its characters
LONGEST_TEXT = 8_000  # characters of a text beside an error: an answer has 32,767 bytes for it
SUBSCRIPTION = 1_000  # bytes of a member beside its names


@dataclass
class Subscription:
    """A member's subscription, and the names that the broker got for it."""

    names: list[str] = field(default_factory=list)
    expression: str = ""
    told: list[str] | None = None
    edition: object = None
    looked: float = 0.0
    size: int = 0  # bytes, as they were counted last

    def measured(self) -> int:
        """Bytes that it takes now without its key, estimated."""
        names = (*self.names, *(self.told or ()))
        return SUBSCRIPTION + len(self.expression) + sum(NAME + len(name) for name in turns(names))


class SubscribedTopicsCheck(Check):
    """The expression of a ConsumerGroupHeartbeat, after the checks of its group and its names."""

    answers = True

    def __init__(self) -> None:
        self._members: OrderedDict[tuple[str, str], Subscription] = OrderedDict()
        self.size = 0  # bytes of all members

    def apply(self, checked: CheckedRequest) -> Any:
        request = checked.request
        key = request.group_id, request.member_id
        known = self._members.get(key)
        if checked.authorizer.is_shadow:
            return None
        if request.member_epoch < 0 or (known is None and not request.subscribed_topic_regex):
            if known is not None:
                checked.after.append(partial(self._answered, key, None))
            return None
        member = Subscription() if known is None or request.member_epoch == 0 else replace(known)
        if request.subscribed_topic_names is not None:
            member.names, member.told = request.subscribed_topic_names, None
        if request.subscribed_topic_regex is not None:
            member.expression, member.told = request.subscribed_topic_regex, None
        if member.expression:
            no = yield from self._resolve(checked, member)
            if no is not None:
                return no
        elif request.subscribed_topic_names is None and request.member_epoch > 0:
            request.subscribed_topic_names = self._named(checked, member)
            checked.changed = True
        checked.after.append(partial(self._answered, key, member if member.expression else None))
        return None

    @staticmethod
    def _named(checked: CheckedRequest, member: Subscription) -> list[str]:
        """The names that the member gave, also earlier, and that this client may see now."""
        return [name for name in turns(member.names) if checked.authorizer.may(Operation.DESCRIBE, TOPIC, name)]

    def _answered(
        self, key: tuple[str, str], member: Subscription | None, checked: CheckedRequest, response: Any
    ) -> None:
        """The broker answered a heartbeat. `member`: the subscription after it; None: there is none to remember."""
        if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID or (member is None and not response.error_code):
            self._forget(key)
        elif member is not None and not response.error_code:
            self._remember(key, member)

    def _remember(self, key: tuple[str, str], member: Subscription) -> None:
        """Remember this member, and forget the oldest members if all take too many bytes."""
        known = self._members.get(key)
        if known is None or known.names is not member.names or known.told is not member.told:
            member.size = sum(map(len, key)) + member.measured()  # others may have their turn meanwhile
        self._forget(key)
        self._members[key] = member
        self.size += member.size
        while len(self._members) > MOST or self.size > ROOM:
            self._forget(next(iter(self._members)))

    def _forget(self, key: tuple[str, str]) -> None:
        member = self._members.pop(key, None)
        if member is not None:
            self.size -= member.size

    def _resolve(self, checked: CheckedRequest, member: Subscription) -> Any:
        request, authorizer = checked.request, checked.authorizer
        now, is_recent = authorizer.now, abs(authorizer.now - member.looked) < LOOK
        if member.told is not None and authorizer.edition is member.edition and is_recent:
            return None
        everything = yield from checked.names.ask_all()
        seen = [name for name in everything if authorizer.may(Operation.DESCRIBE, TOPIC, name)]
        try:
            matched = yield Call(partial(matching, member.expression, seen), apart="expressions")
        except BadExpressionError as error:
            said = f"SubscribedTopicRegex `{member.expression[:LONGEST]}` is not a valid regular expression: {error}."
            return checked.refuse(ErrorCode.INVALID_REGULAR_EXPRESSION, said)
        told = sorted({*self._named(checked, member), *matched})
        if told != member.told or request.subscribed_topic_regex is not None:
            request.subscribed_topic_names = told
        request.subscribed_topic_regex = None
        member.told, member.edition, member.looked = told, authorizer.edition, now
        checked.changed = True
        return None


TOPOLOGY = (
    "topology.subtopologies.source_topics",
    "topology.subtopologies.repartition_sink_topics",
    "topology.subtopologies.repartition_source_topics.name",
    "topology.subtopologies.state_changelog_topics.name",
)


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


class StreamsTopologyCheck(Check):
    """The topology of a StreamsGroupHeartbeat: missing internal topics need the right to create them."""

    INTERNAL = ("state_changelog_topics", "repartition_source_topics")

    def apply(self, checked: CheckedRequest) -> Any:
        topology = checked.request.topology
        if topology is None:
            return None
        if any(part.source_topic_regex for part in topology.subtopologies) and not checked.authorizer.is_shadow:
            said = "Source topics by regular expression cannot be decided on; name them."
            return checked.refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, said)
        if checked.authorizer.may(Operation.CREATE, CLUSTER):
            return None
        internal = {t.name for part in topology.subtopologies for name in self.INTERNAL for t in getattr(part, name)}
        doubtful = {name for name in internal if not checked.authorizer.may(Operation.CREATE, TOPIC, name)}
        if not doubtful:
            return None
        everything = yield from checked.names.ask_all()
        for name in sorted(doubtful - set(everything)):
            if checked.authorizer.refuses(checked.api, Operation.CREATE, TOPIC, name):
                said = f"Unauthorized to CREATE on topics {name}."
                return checked.refuse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, said)
        return None
