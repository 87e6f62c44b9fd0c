"""Share groups: records that members of a group lock and acknowledge, over sessions like those of Fetch (KIP-932).

Rules:
* A session belongs to a group and a member. A full request (epoch 0) makes a new one; the last one (-1) fetches
  nothing.
* Acknowledgements are checked separately, whether their partition is in the session or not.
* Brokers find a session by the names of group and member, which any client may use. So every answer is checked again
  before any of its records leaves. If the rules have changed, so is the right to the group.
* Each broker has sessions of its own, and whoever opened one last has it. If another client has opened one of the same
  names since, or an answer has records of a topic that is not in the session, it is over here: a client must not have a
  broker lock records by another's session which it may not read itself.
* For a topic id that it does not know, a broker refuses the whole request with an unknown error; so does the proxy.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.checks import Check
from plugins.acl.errors import GROUP
from plugins.acl.fetched import REFUSAL, forgotten_topic, refused_topic, request_topic, verdict
from plugins.acl.sessions import AuthorizedSession, Change, sessions
from proxy.plugin import SHARE_FETCH, Decision, ErrorCode, turns
from proxy.plugin.fetching import FULL, LAST, FetchedTopic, FetchSessions, Topic
from rules import Operation

SessionName = tuple[int | None, str | None, str | None]  # broker, group and member
Errors = dict[int, tuple[int, int]]  # by partition: of fetching, and of acknowledging


class PendingShareFetch(NamedTuple):
    """A request whose answer is still to come."""

    session: AuthorizedSession
    name: SessionName
    edition: object  # of the rights that decided on the request
    refusals: dict[Topic, Errors]


class ShareFetchCheck(Check):
    """ShareFetch, after the check of its group."""

    answers = True
    may_apply_again = False  # it makes a step of its session

    def __init__(self) -> None:
        self._latest = WeakValueDictionary[SessionName, AuthorizedSession]()

    def ids(self, checked: CheckedRequest) -> Any:
        session = _sessions(checked).get(checked.request)
        asked = (topic.topic_id for topic in turns(checked.request.topics))
        return chain(asked, session.due(checked.authorizer.now) if session is not None else [])

    def remembered(self, checked: CheckedRequest) -> int:
        session = _sessions(checked).get(checked.request)
        return session.size if session is not None else 0

    def apply(self, checked: CheckedRequest) -> Decision:
        request, edition = checked.request, checked.authorizer.edition
        if any(checked.names.get(topic.topic_id) is None for topic in request.topics):
            return checked.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        turn = _sessions(checked).share_fetch(request)
        name = checked.connection.broker_id, request.group_id, request.member_id
        error, session, asked = turn.error, turn.session, turn.asked
        if turn.goes_on and self._is_taken_over(name, session):
            _sessions(checked).drop(session)
            error = ErrorCode.SHARE_SESSION_NOT_FOUND
        if error is not None and not checked.authorizer.is_shadow:
            return checked.refuse(error)
        is_last = request.share_session_epoch == LAST
        change = session.step(
            asked, turn.forgotten, partial(verdict, checked.api, checked.authorizer, checked.names), edition
        )
        refusals = _refusals(asked, change, {} if is_last else session.refused, session)
        checked.held += REFUSAL * sum(map(len, refusals.values()))
        pending = PendingShareFetch(session, name, edition, refusals)
        checked.judging.append(partial(self._finish, pending))
        if change.changed and (not is_last or any(map(_acknowledged, asked))):
            request.topics = [
                request_topic(SHARE_FETCH, one) for one in turns(change.topics) if not is_last or _acknowledged(one)
            ]
            request.forgotten_topics_data += (forgotten_topic(SHARE_FETCH, one) for one in turns(change.forgotten))
            checked.changed = True
        return None

    def _finish(self, pending: PendingShareFetch, checked: CheckedRequest, response: Any) -> None:
        """Check the answer again, and put the refusals into it."""
        if response.error_code:
            return
        group = checked.request.group_id or ""
        is_changed = checked.authorizer.edition is not pending.edition
        if is_changed and checked.authorizer.refuses(SHARE_FETCH, Operation.READ, GROUP, group):
            response.error_code, response.responses = ErrorCode.GROUP_AUTHORIZATION_FAILED, []
            return
        if checked.request.share_session_epoch == FULL:
            self._latest[pending.name] = pending.session
        if any(map(partial(_is_strange, pending.session), turns(response.responses))):
            _sessions(checked).drop(pending.session)
        if is_changed or not checked.authorizer.is_shadow:
            for topic in turns(response.responses):
                _withhold(checked, topic)
        refusals = turns(pending.refusals.items())
        response.responses += (_refusal(checked.version, topic, errors) for topic, errors in refusals)

    def _is_taken_over(self, name: SessionName, session: AuthorizedSession) -> bool:
        """Has another client opened a session of this name since? That is not known where the broker is not."""
        return name[0] is not None and self._latest.get(name, session) is not session


class ShareAcknowledgeCheck(Check):
    """ShareAcknowledge, which continues the same sessions."""

    may_apply_again = False

    def apply(self, checked: CheckedRequest) -> Decision:
        _sessions(checked).acknowledge(checked.request)
        return None


def _sessions(checked: CheckedRequest) -> FetchSessions[AuthorizedSession]:
    return sessions(checked.connection, checked.authorizer.client.of)


def _acknowledged(fetched: FetchedTopic) -> list[int]:
    return [index for index, partition in turns(fetched.partitions.items()) if partition.acknowledgement_batches]


def _refusals(
    asked: Iterable[FetchedTopic], change: Change, refused: dict[Topic, int], session: AuthorizedSession
) -> dict[Topic, Errors]:
    """The errors in the answer: of topics `refused` in the session, and of refused topics that are acknowledged now."""
    refusals: dict[Topic, Errors] = {
        topic: dict.fromkeys(session.topics[topic], (error, 0)) for topic, error in turns(refused.items())
    }
    for one in turns(asked):
        error = change.refused.get(one.topic)
        if error is None:
            continue
        errors = refusals.setdefault(one.topic, {})
        errors.update((index, (errors.get(index, (0, 0))[0], error)) for index in _acknowledged(one))
    return {topic: errors for topic, errors in turns(refusals.items()) if errors}


def _is_strange(session: AuthorizedSession, topic: Any) -> bool:
    """Does an answer have records of a topic that is not in its session?"""
    return topic.topic_id not in session.topics and any(partition.records for partition in turns(topic.partitions))


def _withhold(checked: CheckedRequest, topic: Any) -> None:
    """Replace a topic that may not be read by its refusal, however it came into the broker's session."""
    error = verdict(checked.api, checked.authorizer, checked.names, topic.topic_id)
    if error is not None:
        errors = {p.partition_index: (error, p.acknowledge_error_code) for p in topic.partitions}
        topic.partitions = _refusal(checked.version, topic.topic_id, errors).partitions


def _refusal(version: int, topic: Topic, errors: Errors) -> Any:
    refused = refused_topic(SHARE_FETCH, version, FetchedTopic(topic, errors), ErrorCode.NONE)
    for answer in turns(refused.partitions):
        answer.error_code, answer.acknowledge_error_code = errors[answer.partition_index]
    return refused
