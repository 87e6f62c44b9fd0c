"""Fetch: records of topics that the client may read, over sessions that the broker keeps (KIP-227).

Rules:
* A request of a session is checked with the session; `sessions.py` says what the broker gets. A request without a
  session is checked by itself.
* An incremental request of a session that is not known on this connection gets "session not found": the client begins a
  new one. A request that is out of turn, or that has names where its session has ids, is refused as its broker would.
* If the broker answers a request of a session with an error, the session is over: it may have changed unseen, and a
  client must not get back into step with it. Answers that follow are checked again.
* A fetch may wait long at the broker. If the rules have changed when its answer comes, the answer is checked again
  before any of its records leaves. If they have not, and nothing was refused, the answer passes unread.
* A short request stands for all topics of its session. If these are many, it is checked in slices, though it is short.
* A fetch of a follower (a replica id of 0 or above) needs ClusterAction, the right of brokers, also when its answer
  comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.fetched import REFUSAL, REFUSED, forgotten_topic, refused_topic, request_topic, verdict
from plugins.acl.pending_fetch import PendingFetch
from plugins.acl.request_authorizer import RequestAuthorizer, authorizer_of
from plugins.acl.sessions import AuthorizedSession, sessions
from proxy.plugin import (
    FETCH,
    Context,
    Decision,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    FetchTopics,
    Forward,
    Reply,
    Steps,
    TopicNames,
    refuse,
    turns,
)
from proxy.plugin.fetching import WITH_IDS, WITH_SESSIONS, FetchedTopic, FetchSessions, Topic, named
from proxy.plugin.frames import ELEMENTS
from rules import Operation, ResourceType
from rules.noted import RULES_NOTE

TOPIC_ROOM = 400  # bytes that a refused topic takes beside its partitions


class FetchHandlers:
    """Fetch requests and their answers."""

    FIELDS = frozenset([*FetchTopics.REQUEST, "replica_id", "replica_state"])
    ANSWERED = frozenset([*FetchTopics.RESPONSE, "responses"])

    def __init__(self, authorizer: Authorizer, names: TopicNames) -> None:
        self._authorizer = authorizer
        self._names = names

    def request(self, ctx: Context, request: FetchRequest) -> Decision | Steps:
        """Check a request, after asking for names that are not known."""
        authorizer = authorizer_of(self._authorizer, ctx)
        if max(request.replica_id, request.replica_state.replica_id) >= 0:
            if _refuses_follower(authorizer):
                return Reply(refuse(FETCH, ctx.version, request, REFUSED))  # type: ignore[arg-type]
            ctx.notes[self] = PendingFetch(authorizer.client, authorizer.edition, [], None, is_follower=True)
            return None
        session, unknown = self._sessions(ctx).get(request), []
        if ctx.version >= WITH_IDS:
            asked = (topic.topic_id for topic in turns(request.topics))
            due = session.due(authorizer.now) if session is not None else []
            unknown = self._names.unknown(chain(asked, due))
        in_slices = session is not None and session.size > ELEMENTS and not ctx.is_large
        if not unknown and not in_slices:
            return self._check(ctx, request, authorizer)
        ctx.is_large |= in_slices  # what `_ask` returns is then run in slices
        return self._ask(ctx, request, authorizer, unknown)

    def _ask(self, ctx: Context, request: FetchRequest, authorizer: RequestAuthorizer, unknown: list[bytes]) -> Steps:
        yield from self._names.ask(unknown)
        authorizer.take_up(ctx)
        return self._check(ctx, request, authorizer)

    def _check(self, ctx: Context, request: FetchRequest, authorizer: RequestAuthorizer) -> Decision:
        opened, edition = self._sessions(ctx), authorizer.edition
        turn = opened.fetch(ctx.version, request)
        if turn.error is not None and not authorizer.is_shadow:
            return Reply(FetchResponse(error_code=turn.error, responses=[]))
        session = turn.session
        check = partial(verdict, FETCH, authorizer, self._names)
        change = session.step(turn.asked, turn.forgotten, check, edition)
        refused = [
            (FetchedTopic(topic, {**session.topics[topic]}), error) for topic, error in turns(session.refused.items())
        ]
        if opened.gives_up(request, turn):
            refused = [(one, change.refused[one.topic]) for one in turns(turn.asked) if one.topic in change.refused]
        if change.restored and session.stale:
            # The offsets of the client are not known any more: it must begin a new session with all of them.
            opened.close(request)
            return Reply(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[]))
        new, known = session if turn.opens else None, session if turn.goes_on else None
        held = TOPIC_ROOM * len(refused) + REFUSAL * sum(len(one.partitions) for one, _ in turns(refused))
        held += session.held if new is not None else 0
        unrefused = not authorizer.recorded and not refused and (turn.goes_on or not (turn.opens or request.session_id))
        content = session.content
        ctx.notes[self] = PendingFetch(authorizer.client, edition, refused, new, known, unrefused, content, held=held)
        if not change.changed:
            return None
        request.topics = [request_topic(FETCH, one) for one in turns(change.topics)]
        request.forgotten_topics_data += (forgotten_topic(FETCH, one) for one in turns(change.forgotten))
        if ctx.version < WITH_SESSIONS and not request.topics:
            answer = FetchResponse(responses=[])
            self._refuse(answer, ctx.version, refused)
            return Reply(answer)
        return Forward(request)

    @property
    def keys(self) -> frozenset[object]:
        """The keys of notes on a request."""
        return frozenset({self, RULES_NOTE})

    def pending(self, ctx: Context) -> PendingFetch | None:
        """This request, if its answer may have to be read."""
        fetch: PendingFetch | None = ctx.notes.get(self)
        return fetch

    def repeated_by(self, ctx: Context) -> ClientAuthorizer | None:
        """The client's authorizer, if its edition lets requests like this one pass; None: they must be read."""
        fetch = self.pending(ctx)
        return fetch.authorizer if fetch is not None and fetch.may_repeat else None

    def has_session(self, ctx: Context) -> bool:
        """Whether this request continued a session."""
        fetch = self.pending(ctx)
        return fetch is not None and fetch.of is not None

    def _sessions(self, ctx: Context) -> FetchSessions[AuthorizedSession]:
        return sessions(ctx.connection, self._authorizer)

    def is_needed(self, ctx: Context) -> bool:
        """Whether the answer must be read, unless it is an error."""
        fetch: PendingFetch | None = ctx.notes.get(self)
        return fetch is not None and fetch.is_needed

    def response(self, ctx: Context, response: FetchResponse) -> Decision:
        """Check the answer if the rules have changed, and put the refusals into it."""
        fetch: PendingFetch = ctx.notes[self]
        if response.error_code:
            if fetch.of is not None:
                self._sessions(ctx).drop(fetch.of)
            return None
        if fetch.session is not None and response.session_id:
            self._sessions(ctx).open(response.session_id, fetch.session)
        withheld = False
        if not fetch.holds():
            check = self._check_again(fetch, RequestAuthorizer(fetch.authorizer, ctx))
            for topic in response.responses:
                withheld |= self._withhold(check, topic, ctx.version)
        if not withheld and not fetch.refused:
            return None
        self._refuse(response, ctx.version, fetch.refused)
        return Forward(response)

    def _check_again(self, fetch: PendingFetch, authorizer: RequestAuthorizer) -> Callable[[Topic], int | None]:
        """The check of each topic in the answer to this request, by the present rules."""
        if not fetch.is_follower:
            return partial(verdict, FETCH, authorizer, self._names)
        error = REFUSED if _refuses_follower(authorizer) else None
        return lambda _: error

    def _withhold(self, check: Callable[[Topic], int | None], topic: Any, version: int) -> bool:
        """Replace the records of a topic that may not be read any more by its refusal."""
        called = named(topic, by_id=version >= WITH_IDS)
        error = check(called)
        if error is None:
            return False
        indexes = (partition.partition_index for partition in turns(topic.partitions))
        refused = FetchedTopic(called, dict.fromkeys(indexes))
        topic.partitions = refused_topic(FETCH, version, refused, error).partitions
        return True

    def _refuse(self, response: FetchResponse, version: int, refused: Iterable[tuple[FetchedTopic, int]]) -> None:
        response.responses += (refused_topic(FETCH, version, fetched, error) for fetched, error in turns(refused))


def _refuses_follower(authorizer: RequestAuthorizer) -> bool:
    return authorizer.refuses(FETCH, Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
