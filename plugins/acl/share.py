"""Share groups: records that members of a group lock and acknowledge, over sessions like those of Fetch (KIP-932).

# A session belongs to a group and a member. Acknowledgements of a refused topic are refused with it.
# A broker answers a topic id that it does not know with an unknown error for the whole request; so do we.
"""

from __future__ import annotations

from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import TOPIC, Check
from plugins.acl.sessions import Asked, Session, Sessions, Topic
from proxy.core.decisions import Decision
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from proxy.protocol.refuse import Refusal
from rules import Operation

OPEN, CLOSE = 0, -1  # epochs
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
Partition = ShareFetchRequest.Topic.Partition


class ShareFetched(Check):
    """ShareFetch, after the group was asked about."""

    answers = True

    def ids(self, case: Case) -> Any:
        return (topic.topic_id for topic in case.request.topics)

    def judge(self, case: Case) -> Decision:
        request = case.request
        if any(case.names.get(topic.topic_id) is None for topic in request.topics):
            return case.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        session = self._session(case)
        if session is None:
            return case.refuse(ErrorCode.SHARE_SESSION_NOT_FOUND)
        asked = [Asked(topic.topic_id, {p.partition_index: p for p in topic.partitions}) for topic in request.topics]
        forgotten = [Asked(t.topic_id, dict.fromkeys(t.partitions)) for t in request.forgotten_topics_data]
        change = session.step(asked, forgotten, lambda topic: self._verdict(case, topic), case.rights.edition)
        acknowledged = {one.topic: one.partitions for one in asked}
        for one in asked:  # what was acknowledged is so once only
            session.wanted[one.topic].update((i, _blank(p)) for i, p in one.partitions.items())
        refused = [
            (Asked(topic, session.wanted[topic] | acknowledged.get(topic, {})), error)
            for topic, error in session.refused.items()
        ]
        edition = case.rights.edition

        def finish(case: Case, response: Any) -> None:
            if case.rights.current() is not edition:
                for topic in response.responses:
                    self._withhold(case, topic)
            response.responses += (_refusal(case.version, *one) for one in refused)

        case.after.append(finish)
        if change.changed:
            request.topics = [_topic(one) for one in change.topics]
            request.forgotten_topics_data += map(_forgotten, change.forgotten)
            case.changed = True
        return None

    def _session(self, case: Case) -> Session | None:
        request = case.request
        sessions: Sessions[Any] = case.ctx.connection.notes.setdefault(self, Sessions())
        key = request.group_id, request.member_id
        if request.share_session_epoch > OPEN:
            return sessions.get(key)
        if request.share_session_epoch == CLOSE:
            session = sessions.get(key)
            sessions.close(key)
            return session
        session = Session()
        sessions.open(key, session)
        return session

    def _verdict(self, case: Case, topic: Topic) -> int | None:
        name = case.names.of(topic)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return REFUSED if case.rights.refuses(case.api, Operation.READ, TOPIC, name) else None

    def _withhold(self, case: Case, topic: Any) -> None:
        """The rights have changed while the broker waited."""
        error = self._verdict(case, topic.topic_id)
        if error is not None:
            partitions = {p.partition_index: _bare(p.partition_index) for p in topic.partitions}
            topic.partitions = _refusal(case.version, Asked(topic.topic_id, partitions), error).partitions


def _bare(index: int) -> Partition:
    return Partition(partition_index=index, acknowledgement_batches=[])


def _blank(partition: Partition) -> Partition:
    bare = _bare(partition.partition_index)
    bare.partition_max_bytes = partition.partition_max_bytes
    return bare


def _topic(asked: Asked) -> ShareFetchRequest.Topic:
    assert isinstance(asked.topic, bytes)
    return ShareFetchRequest.Topic(topic_id=asked.topic, partitions=[*asked.partitions.values()])


def _forgotten(asked: Asked) -> ShareFetchRequest.ForgottenTopic:
    assert isinstance(asked.topic, bytes)
    return ShareFetchRequest.ForgottenTopic(topic_id=asked.topic, partitions=[*asked.partitions])


def _refusal(version: int, asked: Asked, error: int) -> ShareFetchResponse.Topic:
    topic = _topic(asked)
    refused: ShareFetchResponse.Topic = Refusal(ShareFetchRequest.api, version, error, None).of(
        ShareFetchResponse.Topic, (topic, topic)
    )
    for answer in refused.partitions:
        if asked.partitions[answer.partition_index].acknowledgement_batches:
            answer.acknowledge_error_code = error
        else:
            answer.acknowledge_error_code = 0
    return refused
