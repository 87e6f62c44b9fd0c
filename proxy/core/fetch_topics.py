"""Fetch topics, a service: what each Fetch and ShareFetch is about, with the topics that its session has from before.

    @on_request(FetchRequest, fields=FetchTopics.REQUEST)
    def fetch(self, ctx: Context, request: FetchRequest) -> Decision:
        topics = self._services.fetch_sessions.of(ctx, request)  # {"orders": {0: ..., 3: ...}}, or by id

    @on_response(FetchResponse, fields=FetchTopics.RESPONSE)
    def fetched(self, ctx: Context, response: FetchResponse) -> Decision:
        self._services.fetch_sessions.answered(ctx, response)

# A plugin shows it every request of Fetch, ShareFetch and ShareAcknowledge, and every answer of Fetch. An observer may
# too. What comes of them is remembered with the connection, as this plugin sees it.
# What it gives is as it is now: copy what must last.
# A session that was not seen from its beginning is about nothing. A plugin that comes into force later has it `forget`
# what it knew of a connection, in `joined`.
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
    """For the plugin of this name."""

    REQUEST = ("session_id", "session_epoch", "topics", "forgotten_topics_data")
    RESPONSE = ("error_code", "session_id")

    def __init__(self, name: str) -> None:
        self._key = "fetch sessions", name

    def of(self, ctx: Context, request: SessionRequest) -> Mapping[Topic, Mapping[int, Any]]:
        """The topics, by name or id, with their partitions as they were asked for last; none where a broker refuses.

        A ShareAcknowledge goes on with the session, and is about what it names alone.
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
        """Requests of this connection went by that it was not shown (`Plugin.joined`)."""
        connection.notes.pop(self._key, None)

    def answered(self, ctx: Context, response: FetchResponse) -> None:
        """The answer says what the session is called that the request opens."""
        session: FetchSession | None = ctx.notes.pop(self._key, None)
        sessions: FetchSessions[FetchSession] | None = ctx.connection.notes.get(self._key)
        if session is not None and sessions is not None and response.session_id and not response.error_code:
            sessions.open(response.session_id, session)
