"""Share groups: records that members of a group lock and acknowledge, over sessions like those of Fetch (KIP-932).

# A session belongs to a group and a member. A full request (epoch 0) makes it anew; the last one (-1) fetches nothing.
# What a request acknowledges is judged by itself, whether or not it is in the session, or stays there.
# Brokers go by the names of group and member, which anybody may say. So every answer is judged again before any of its
# records leaves.
# A broker answers a topic id that it does not know with an unknown error for the whole request; so do we.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from plugins.acl.case import Case
from plugins.acl.checks import Check
from plugins.acl.fetched import forgotten_topic, refused_topic, request_topic, verdict
from plugins.acl.sessions import AuthorizedSession, Change
from proxy.core.decisions import Decision
from proxy.core.fetch_session import FetchedTopic, Topic
from proxy.core.fetch_sessions import LAST, FetchSessions
from proxy.protocol.api import SHARE_FETCH
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.share_fetch import ShareFetchRequest

Partition = ShareFetchRequest.Topic.Partition
Errors = dict[int, tuple[int, int]]  # by partition: of fetching, and of acknowledging


class ShareFetched(Check):
    """ShareFetch, after the group was asked about."""

    answers = True

    def ids(self, case: Case) -> Any:
        return (topic.topic_id for topic in turns(case.request.topics))

    def remembered(self, case: Case) -> int:
        session = self.sessions(case).get(case.request)
        return session.size if session is not None else 0

    def judge(self, case: Case) -> Decision:
        request, edition = case.request, case.rights.edition
        if any(case.names.get(topic.topic_id) is None for topic in request.topics):
            return case.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        turn = self.sessions(case).share_fetch(request)
        if turn.error is not None and not case.rights.is_shadow:
            return case.refuse(turn.error)
        session, asked, is_last = turn.session, turn.asked, request.share_session_epoch == LAST
        change = session.step(asked, turn.forgotten, partial(verdict, case.api, case.rights, case.names), edition)
        refusals = _refusals(asked, change, {} if is_last else session.refused, session)

        def finish(case: Case, response: Any) -> None:
            if response.error_code:
                return
            if case.rights.current() is not edition or not case.rights.is_shadow:
                for topic in turns(response.responses):
                    _withhold(case, topic)
            response.responses += (_refusal(case.version, topic, errors) for topic, errors in turns(refusals.items()))

        case.after.append(finish)
        if change.changed and (not is_last or any(map(_acknowledged, asked))):
            request.topics = [
                request_topic(SHARE_FETCH, one) for one in turns(change.topics) if not is_last or _acknowledged(one)
            ]
            request.forgotten_topics_data += (forgotten_topic(SHARE_FETCH, one) for one in turns(change.forgotten))
            case.changed = True
        return None

    def sessions(self, case: Case) -> FetchSessions[AuthorizedSession]:
        """Those of this connection, by group and member."""
        found: FetchSessions[AuthorizedSession] | None = case.connection.notes.get(self)
        if found is None:
            found = case.connection.notes[self] = FetchSessions(AuthorizedSession)
        return found


class ShareAcknowledged(Check):
    """ShareAcknowledge goes on with the same sessions."""

    def __init__(self, fetched: ShareFetched) -> None:
        self._fetched = fetched

    def judge(self, case: Case) -> Decision:
        self._fetched.sessions(case).acknowledge(case.request)
        return None


def _acknowledged(fetched: FetchedTopic) -> list[int]:
    return [index for index, partition in turns(fetched.partitions.items()) if partition.acknowledgement_batches]


def _refusals(
    asked: Iterable[FetchedTopic], change: Change, refused: dict[Topic, int], session: AuthorizedSession
) -> dict[Topic, Errors]:
    """What the answer says of topics that are refused: those `refused` of the session, and those acknowledged now."""
    refusals: dict[Topic, Errors] = {
        topic: dict.fromkeys(session.topics[topic], (error, 0)) for topic, error in refused.items()
    }
    for one in turns(asked):
        error = change.refused.get(one.topic)
        if error is None:
            continue
        errors = refusals.setdefault(one.topic, {})
        errors.update((index, (errors.get(index, (0, 0))[0], error)) for index in _acknowledged(one))
    return {topic: errors for topic, errors in refusals.items() if errors}


def _withhold(case: Case, topic: Any) -> None:
    """What may not be read does not leave, however it came into the broker's session."""
    error = verdict(case.api, case.rights, case.names, topic.topic_id)
    if error is not None:
        errors = {p.partition_index: (error, p.acknowledge_error_code) for p in topic.partitions}
        topic.partitions = _refusal(case.version, topic.topic_id, errors).partitions


def _refusal(version: int, topic: Topic, errors: Errors) -> Any:
    bare = {index: Partition(partition_index=index, acknowledgement_batches=[]) for index in turns(errors)}
    refused = refused_topic(SHARE_FETCH, version, FetchedTopic(topic, bare), ErrorCode.NONE)
    for answer in turns(refused.partitions):
        answer.error_code, answer.acknowledge_error_code = errors[answer.partition_index]
    return refused
