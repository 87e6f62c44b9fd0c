"""Share groups: records that members of a group lock and acknowledge, over sessions like those of Fetch (KIP-932).

# A session belongs to a group and a member. A full request (epoch 0) makes it anew; the last one (-1) fetches nothing.
# What a request acknowledges is judged by itself, whether or not it is in the session, or stays there.
# Brokers go by the names of group and member, which anybody may say. So every answer is judged again before any of its
# records leaves.
# A broker answers a topic id that it does not know with an unknown error for the whole request; so do we.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import TOPIC, Check
from plugins.acl.sessions import Asked, Change, Session, Sessions, Topic
from proxy.core.decisions import Decision
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from proxy.protocol.refuse import Refusal
from rules import Operation

OPEN, CLOSE = 0, -1  # epochs
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
Partition = ShareFetchRequest.Topic.Partition
Errors = dict[int, tuple[int, int]]  # by partition: of fetching, and of acknowledging


class ShareFetched(Check):
    """ShareFetch, after the group was asked about."""

    answers = True

    def ids(self, case: Case) -> Any:
        return (topic.topic_id for topic in turns(case.request.topics))

    def remembered(self, case: Case) -> int:
        session = self.sessions(case).get(key(case.request))
        return session.size if session is not None else 0

    def judge(self, case: Case) -> Decision:
        request, epoch = case.request, case.request.share_session_epoch
        if any(case.names.get(topic.topic_id) is None for topic in request.topics):
            return case.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        asked = [
            Asked(topic.topic_id, {p.partition_index: p for p in turns(topic.partitions)})
            for topic in turns(request.topics)
        ]
        acknowledges = any(map(_acknowledged, asked))
        if epoch == OPEN and acknowledges:
            return case.refuse(ErrorCode.INVALID_REQUEST)
        session, error = self._session(case)
        if error is not None and not case.rights.is_shadow:
            return case.refuse(error)
        forgotten = [Asked(t.topic_id, dict.fromkeys(t.partitions)) for t in turns(request.forgotten_topics_data)]
        if epoch in (OPEN, CLOSE):
            forgotten = []  # is not heeded there
        edition = case.rights.edition
        change = session.step(asked, forgotten, lambda topic: self._verdict(case, topic), edition)
        refusals = _refusals(asked, change, {} if epoch == CLOSE else session.refused, session)
        _forget_acknowledged(session, asked)

        def finish(case: Case, response: Any) -> None:
            if response.error_code:
                return
            if case.rights.current() is not edition or not case.rights.is_shadow:
                for topic in turns(response.responses):
                    self._withhold(case, topic)
            response.responses += (_refusal(case.version, topic, errors) for topic, errors in turns(refusals.items()))

        case.after.append(finish)
        if change.changed and (acknowledges or epoch != CLOSE):
            request.topics = [_topic(one) for one in turns(change.topics) if epoch != CLOSE or _acknowledged(one)]
            request.forgotten_topics_data += map(_forgotten, turns(change.forgotten))
            case.changed = True
        return None

    def sessions(self, case: Case) -> Sessions[Any]:
        """Those of this connection, by group and member."""
        found: Sessions[Any] = case.connection.notes.setdefault(self, Sessions())
        return found

    def _session(self, case: Case) -> tuple[Session, ErrorCode | None]:
        """The session of a request, and the error with which a broker answers that finds it otherwise."""
        request, sessions, session = case.request, self.sessions(case), Session(by_id=True)
        known = sessions.get(key(request))
        if request.share_session_epoch == OPEN:
            sessions.open(key(request), session)
            return session, None
        if known is None:
            return session, ErrorCode.SHARE_SESSION_NOT_FOUND
        if request.share_session_epoch == CLOSE:
            sessions.close(key(request))
            return session, None
        if known.epoch != request.share_session_epoch:
            return session, ErrorCode.INVALID_SHARE_SESSION_EPOCH
        known.advance()
        return known, None

    def _verdict(self, case: Case, topic: Topic) -> int | None:
        name = case.names.of(topic)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return REFUSED if case.rights.refuses(case.api, Operation.READ, TOPIC, name) else None

    def _withhold(self, case: Case, topic: Any) -> None:
        """What may not be read does not leave, however it came into the broker's session."""
        error = self._verdict(case, topic.topic_id)
        if error is not None:
            errors = {p.partition_index: (error, p.acknowledge_error_code) for p in topic.partitions}
            topic.partitions = _refusal(case.version, topic.topic_id, errors).partitions


class ShareAcknowledged(Check):
    """ShareAcknowledge goes on with the same sessions."""

    def __init__(self, fetched: ShareFetched) -> None:
        self._fetched = fetched

    def judge(self, case: Case) -> Decision:
        sessions, epoch = self._fetched.sessions(case), case.request.share_session_epoch
        session = sessions.get(key(case.request))
        if epoch == CLOSE:
            sessions.close(key(case.request))
        elif session is not None and session.epoch == epoch:
            session.advance()
        return None


def key(request: Any) -> tuple[str | None, str | None]:
    """What brokers know a share session by."""
    return request.group_id, request.member_id


def _acknowledged(asked: Asked) -> list[int]:
    return [index for index, partition in turns(asked.partitions.items()) if partition.acknowledgement_batches]


def _refusals(asked: Iterable[Asked], change: Change, kept: dict[Topic, int], session: Session) -> dict[Topic, Errors]:
    """What the answer says of topics that are refused: those `kept` of the session, and those acknowledged now."""
    refusals: dict[Topic, Errors] = {
        topic: dict.fromkeys(session.wanted[topic], (error, 0)) for topic, error in kept.items()
    }
    for one in turns(asked):
        error = change.refused.get(one.topic)
        if error is None:
            continue
        errors = refusals.setdefault(one.topic, {})
        errors.update((index, (errors.get(index, (0, 0))[0], error)) for index in _acknowledged(one))
    return {topic: errors for topic, errors in refusals.items() if errors}


def _forget_acknowledged(session: Session, asked: Iterable[Asked]) -> None:
    """What was acknowledged is so once only."""
    for one in turns(asked):
        wanted = session.wanted.get(one.topic, {})
        wanted.update(
            (index, _blank(partition)) for index, partition in turns(one.partitions.items()) if index in wanted
        )


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


def _refusal(version: int, topic: Topic, errors: Errors) -> ShareFetchResponse.Topic:
    named = _topic(Asked(topic, {index: _bare(index) for index in turns(errors)}))
    refused: ShareFetchResponse.Topic = Refusal(ShareFetchRequest.api, version, REFUSED, None).of(
        ShareFetchResponse.Topic, (named, named)
    )
    for answer in turns(refused.partitions):
        answer.error_code, answer.acknowledge_error_code = errors[answer.partition_index]
    return refused
