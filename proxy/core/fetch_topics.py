"""Fetch topics, a service: all topics of each Fetch and ShareFetch, with those that its session had before.

    @on_request(FetchRequest, fields=FetchTopics.REQUEST)
    def fetch(self, ctx: Context, request: FetchRequest) -> Decision:
        topics = self._services.fetch_sessions.of(ctx, request)  # {"orders": {0: ..., 3: ...}}, or by id

    @on_response(FetchResponse, fields=FetchTopics.RESPONSE)
    def fetched(self, ctx: Context, response: FetchResponse) -> Decision:
        self._services.fetch_sessions.answered(ctx, response)

Rules:
* A plugin must show it every Fetch, ShareFetch and ShareAcknowledge request, and every Fetch answer. The plugin may be
  an observer. The sessions are kept with the connection, for each plugin of its own.
* The mappings that it returns change with the session: copy what must last.
* A session that was not seen from its beginning has no topics. A plugin that comes into force later calls `forget` for
  a connection in `joined`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.core.context import Connection, Context
from proxy.core.fetch_session import FetchSession, Topic
from proxy.core.fetch_sessions import FetchSessions, SessionRequest, SessionTurn
from proxy.protocol.fiber import turns
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.share_fetch import ShareFetchRequest


class FetchTopics:
    """The service for the plugin of this name."""

    REQUEST = ("session_id", "session_epoch", "topics", "forgotten_topics_data")
    RESPONSE = ("error_code", "session_id")

    def __init__(self, name: str) -> None:
        self._key = "fetch sessions", name

    def of(self, ctx: Context, request: SessionRequest) -> Mapping[Topic, Mapping[int, Any]]:
        """The topics, by name or id, with their partitions as they were asked for last; none if a broker refuses.

        A ShareAcknowledge goes on with the session, but is only about the topics that it names.
        """
        sessions: FetchSessions[FetchSession] | None = ctx.connection.notes.get(self._key)
        if sessions is None:
            sessions = ctx.connection.notes[self._key] = FetchSessions(FetchSession)
        turn: SessionTurn[FetchSession]
        if isinstance(request, FetchRequest):
            turn = sessions.fetch(ctx.version, request)
        elif isinstance(request, ShareFetchRequest):
            turn = sessions.share_fetch(request)
        else:
            sessions.acknowledge(request)
            return {
                topic.topic_id: {one.partition_index: one for one in turns(topic.partitions)}
                for topic in turns(request.topics)
            }
        if turn.error is not None:
            return {}
        turn.session.take(turn.asked, turn.forgotten)
        if isinstance(request, FetchRequest):
            sessions.gives_up(request, turn)
        if turn.opens:
            ctx.notes[self._key] = turn.session
        return turn.session.topics

    def forget(self, connection: Connection) -> None:
        """Requests of this connection passed without being shown to the service (`Plugin.joined`)."""
        connection.notes.pop(self._key, None)

    def answered(self, ctx: Context, response: FetchResponse) -> None:
        """Take the id of the session that the request opens from the answer."""
        session: FetchSession | None = ctx.notes.pop(self._key, None)
        sessions: FetchSessions[FetchSession] | None = ctx.connection.notes.get(self._key)
        if session is not None and sessions is not None and response.session_id and not response.error_code:
            sessions.open(response.session_id, session)
