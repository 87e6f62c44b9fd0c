"""Fetch sessions of one connection: which session a request of Fetch or ShareFetch is about (KIP-227, KIP-932).

Rules:
* A session belongs to the connection that opened it. A request that names another connection's session finds none.
* A request counts only in its turn (its epoch). The broker takes no other request, so nothing of another is remembered.
* A full Fetch request opens a session, which the answer names. A full ShareFetch request opens the session of its group
  and member.
* A session that has too many topics or partitions ends with its next request, as one that its broker gave up: the
  client begins a new one. So it never holds much more than one request may name.
* The forgotten topics of a full request are ignored, and so are those of the last request of a share session.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proxy.core.fetch_session import FetchedTopic, FetchSession, Topic
from proxy.protocol.api import FETCH, SHARE_FETCH
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from proxy.protocol.messages.share_fetch import ShareFetchRequest

WITH_SESSIONS, WITH_IDS = 7, 13  # versions of Fetch
FULL, LAST = 0, -1  # epochs of requests that do not go on with a session
# Errors of requests that go on with a session: it is not there; the request is not the next one of it.
ERRORS = {
    FETCH: (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    SHARE_FETCH: (ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.INVALID_SHARE_SESSION_EPOCH),
}
MOST = 64  # sessions of one connection; the oldest is forgotten, and its client begins anew

SessionRequest = FetchRequest | ShareFetchRequest | ShareAcknowledgeRequest
S = TypeVar("S", bound=FetchSession)


@dataclass(slots=True)
class SessionTurn(Generic[S]):
    """One request, and the session that it is about: a new one, if it does not go on with a session.

    `error`: the broker answers with it, since the session is not as the request says.
    """

    session: S
    asked: list[FetchedTopic]
    forgotten: list[FetchedTopic]
    error: ErrorCode | None = None
    opens: bool = False  # the answer names the session, if the broker makes it
    goes_on: bool = False  # the session was there before


class FetchSessions(Generic[S]):
    """The sessions of one connection, by their names: an id, or a group and a member."""

    def __init__(self, of: type[S]) -> None:
        self._of = of
        self._open: OrderedDict[Hashable, S] = OrderedDict()

    @property
    def held(self) -> int:
        """Bytes that they take, estimated."""
        return sum(session.held for session in self._open.values())

    def get(self, request: SessionRequest) -> S | None:
        """The session that a request names."""
        return self._open.get(_key(request))

    def open(self, key: Hashable, session: S) -> None:
        """Remember a session under this name. It takes the place of one that had the name before."""
        self._end(key)
        self._open[key] = session
        while len(self._open) > MOST:
            _, oldest = self._open.popitem(last=False)
            oldest.is_open = False

    def close(self, request: SessionRequest) -> None:
        """The session that a request names is over."""
        self._end(_key(request))

    def drop(self, session: S) -> None:
        """This session is over: the broker has it no more, or not as it was."""
        for key in [key for key, each in self._open.items() if each is session]:
            self._end(key)

    def _end(self, key: Hashable) -> None:
        session = self._open.pop(key, None)
        if session is not None:
            session.is_open = False

    def fetch(self, version: int, request: FetchRequest) -> SessionTurn[S]:
        """The turn of a Fetch request. The caller takes what it asks for into the session."""
        by_id = version >= WITH_IDS
        asked = [
            FetchedTopic(named(topic, by_id=by_id), {one.partition: one for one in turns(topic.partitions)})
            for topic in turns(request.topics)
        ]
        turn = SessionTurn(self._of(by_id=by_id), asked, [])
        if version < WITH_SESSIONS or request.session_epoch in (FULL, LAST):
            self.close(request)
            turn.opens = version >= WITH_SESSIONS and request.session_epoch == FULL
            return turn
        return self._going_on(request, request.session_epoch, turn)

    def share_fetch(self, request: ShareFetchRequest) -> SessionTurn[S]:
        """The turn of a ShareFetch request, likewise."""
        epoch = request.share_session_epoch
        asked = [
            FetchedTopic(topic.topic_id, {one.partition_index: one for one in turns(topic.partitions)})
            for topic in turns(request.topics)
        ]
        turn = SessionTurn(self._of(by_id=True), asked, [])
        if epoch == FULL:
            if any(one.acknowledgement_batches for each in asked for one in turns(each.partitions.values())):
                turn.error = ErrorCode.INVALID_REQUEST
            else:
                self.open(_key(request), turn.session)
            return turn
        if epoch == LAST:
            if self.get(request) is None:
                turn.error = ErrorCode.SHARE_SESSION_NOT_FOUND
            self.close(request)
            return turn
        return self._going_on(request, epoch, turn)

    def _going_on(self, request: FetchRequest | ShareFetchRequest, epoch: int, turn: SessionTurn[S]) -> SessionTurn[S]:
        """The turn of a request that goes on with a session, if it is there and this is the next request of it."""
        turn.forgotten = [
            FetchedTopic(named(topic, by_id=turn.session.by_id), dict.fromkeys(topic.partitions))
            for topic in turns(request.forgotten_topics_data)
        ]
        session = self.get(request)
        if session is not None and session.is_full:
            self.close(request)
            session = None
        not_found, wrong_epoch = ERRORS[request.api]
        if session is None:
            turn.error = not_found
        elif session.epoch != epoch:
            turn.error = wrong_epoch
        elif session.by_id is not turn.session.by_id:
            turn.error = ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        else:
            session.advance()
            turn.session, turn.goes_on = session, True
        return turn

    def gives_up(self, request: FetchRequest, turn: SessionTurn[S]) -> bool:
        """Is the session empty now? Then the broker gives it up, and answers as if there were no session."""
        if not turn.goes_on or turn.session.topics:
            return False
        self.close(request)
        return True

    def acknowledge(self, request: ShareAcknowledgeRequest) -> None:
        """A ShareAcknowledge request goes on with the same sessions, and changes nothing in them."""
        session, epoch = self.get(request), request.share_session_epoch
        if epoch == LAST:
            self.close(request)
        elif session is not None and session.epoch == epoch:
            session.advance()


def named(topic: Any, *, by_id: bool) -> Topic:
    """The id of a topic in a request or an answer, or its name."""
    called: Topic = topic.topic_id if by_id else topic.topic
    return called


def _key(request: SessionRequest) -> Hashable:
    if isinstance(request, FetchRequest):
        return request.session_id
    return request.group_id, request.member_id
