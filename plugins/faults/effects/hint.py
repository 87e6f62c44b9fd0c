"""Hint: a broker says that it does not lead a partition, and names a false leader (KIP-951).

A client that follows the hint asks that broker at once, without Metadata. The proxy first asks the broker for the real
leaders (Metadata), so that it can give a false one:

* `other`: another broker, in an epoch newer than the real one. A client that believed it may ignore the real leader,
  whose epoch is older, until the leader changes.
* `older`: another broker, in an epoch that is over. Clients ignore it, and ask for Metadata.
* `unknown`: a broker whose address is not given.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from plugins.faults.about import at_level
from plugins.faults.effect import Effect, Target
from plugins.faults.said_error import SaidError
from proxy.plugin import (
    FETCH,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
    Ask,
    Context,
    ErrorCode,
    Meaning,
    MetadataRequest,
    Reply,
    Request,
    Response,
    Steps,
    values,
)
from proxy.plugin.schema import NO_UUID, paths
from rules.trigger import Firing

SINCE = {FETCH: 16, PRODUCE: 10, SHARE_ACKNOWLEDGE: 0, SHARE_FETCH: 0}  # the versions with `node_endpoints`
NOT_LEADER = SaidError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Hint(Enum):
    """Which leader is named."""

    OTHER = "other"
    OLDER = "older"
    UNKNOWN = "unknown"


class Truth(NamedTuple):
    """The answer to Metadata: brokers by id, leaders with epochs by topic and partition, names of topics by id."""

    brokers: dict[int, Any]
    leaders: dict[tuple[str, int], tuple[int, int]]
    names: dict[bytes, str]


class FalseHint(Effect):
    """Answer NOT_LEADER_OR_FOLLOWER with a false hint."""

    apis: ClassVar = frozenset(SINCE)

    who: Hint = Field(default=Hint.OTHER, description="Which leader is named.", examples=["unknown"])

    def answers_elements(self, ctx: Context) -> bool:
        return True

    def cannot(self, target: Target) -> str | None:
        ctx = target.ctx
        if ctx.version < SINCE[ctx.api]:
            return f"{ctx.api.name} v{ctx.version} answers have no hints"
        if len(ctx.topology.brokers) < 2 and self.who is not Hint.UNKNOWN:
            return "no other broker is known"
        return NOT_LEADER.cannot_before(target)

    def apply(self, target: Target, firing: Firing) -> Steps:
        answer = yield Ask(MetadataRequest(topics=_asked(target), allow_auto_topic_creation=False))
        leaders = {
            (topic.name, it.partition_index): (it.leader_id, it.leader_epoch)
            for topic in answer.topics
            for it in topic.partitions
        }
        names = {topic.topic_id: topic.name for topic in answer.topics}
        truth = Truth({it.node_id: it for it in answer.brokers}, leaders, names)
        decision = NOT_LEADER.before(target)
        if isinstance(decision, Reply):
            self._hint(target, truth, decision.message)
        else:
            target.to_answer.append(lambda refused: self._hint(target, truth, refused))
        return decision

    def _hint(self, target: Target, truth: Truth, answer: Any) -> None:
        """Name a leader beside each error that this effect put into the answer."""
        meant = {(it.subject.topic, it.subject.partition) for it in target.meant}
        named: set[int] = set()
        for partition, about in at_level(answer, target.ctx.version, "partition", target.subject, truth.names.get):
            place = about.topic or "", about.partition if about.partition is not None else -1
            if not target.all_meant and place not in meant:
                continue  # another fault's, or the broker's own
            if partition.error_code == NOT_LEADER.code and place in truth.leaders:
                leader, epoch = self._told(truth, *truth.leaders[place])
                partition.current_leader = type(partition).Leader(leader_id=leader, leader_epoch=epoch)
                named.add(leader)
        known = {it.node_id for it in answer.node_endpoints}
        new = sorted(named & truth.brokers.keys() - known)
        answer.node_endpoints = [*answer.node_endpoints, *(_endpoint(answer, truth.brokers[it]) for it in new)]

    def _told(self, truth: Truth, leader: int, epoch: int) -> tuple[int, int]:
        """The leader and the epoch to name instead of the real ones."""
        others = sorted(it for it in truth.brokers if it != leader)
        other = next((it for it in others if it > leader), others[0] if others else leader + 1)
        match self.who:
            case Hint.OTHER:
                return other, epoch + 1
            case Hint.OLDER:
                return other, max(epoch - 1, 0)
            case Hint.UNKNOWN:
                return max([*truth.brokers, leader]) + 1, epoch + 1


def _asked(target: Target) -> list[MetadataRequest.Topic]:
    """The topics of a request, by name or by id as the request has them."""
    request: Request = target.message
    said = {
        meaning: sorted(
            {it for path in paths(type(request), meaning) for it in values(path, target.ctx.version, request)}
        )
        for meaning in (Meaning.TOPIC_NAME, Meaning.TOPIC_ID)
    }
    ids = [MetadataRequest.Topic(topic_id=it, name=None) for it in said[Meaning.TOPIC_ID] if it != NO_UUID]
    return [MetadataRequest.Topic(name=it) for it in said[Meaning.TOPIC_NAME] if it] + ids


def _endpoint(answer: Response, broker: Any) -> Any:
    """The entry with a broker's real address; the plugin `address` replaces it later."""
    return type(answer).NodeEndpoint(node_id=broker.node_id, host=broker.host, port=broker.port)  # type: ignore[attr-defined]
