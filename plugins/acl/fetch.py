"""Fetch: records of topics that the client may read, over sessions that the broker keeps (KIP-227).

# A request is checked with its session; `sessions.py` says what the broker is told. One without is checked by itself.
# An incremental request of a session that is not known on this connection finds none: the client begins anew. One whose
# turn it is not, or that speaks of names where its session has ids, is refused as its broker would.
# A fetch may wait long at the broker. If the rules are others when it is answered, the answer is checked again before
# any of its records leaves. If they are not, and nothing was refused, it passes unread.
# A short request goes on with all of its session: where this is large it is checked in slices all the same.
# A follower's fetch (a replica id of 0 or above) needs the right of brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import ClientAuthorizer, authorizer_of
from plugins.acl.fetched import REFUSAL, REFUSED, forgotten_topic, refused_topic, request_topic, verdict
from plugins.acl.sessions import AuthorizedSession, sessions, sessions_key
from proxy.plugin import (
    FETCH,
    Context,
    Decision,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    Forward,
    Reply,
    Steps,
    TopicNames,
    refuse,
    turns,
)
from proxy.plugin.fetching import WITH_IDS, WITH_SESSIONS, FetchedTopic, FetchSessions, named
from proxy.plugin.frames import ELEMENTS
from rules import Operation, ResourceType

TOPIC = 400  # bytes that a refused topic takes beside its partitions
Partition = FetchRequest.Topic.Partition


@dataclass(slots=True)
class PendingFetch:
    """What a request leaves to be done to its answer."""

    authorizer: ClientAuthorizer
    edition: object
    refused: list[tuple[FetchedTopic, int]]  # topics with their errors
    session: AuthorizedSession | None  # a new one, if the broker makes it
    of: AuthorizedSession | None = None  # the one that it goes on with
    allowed: bool = False  # nothing was refused, in shadow neither
    content: object = None  # what its session had after it
    held: int = 0  # bytes that the refusals take until they are told, at a guess


class FetchHandlers:
    """Fetch requests and their answers."""

    SESSION = frozenset(["session_id", "session_epoch", "topics", "forgotten_topics_data"])
    FIELDS = SESSION | {"replica_id", "replica_state"}
    ANSWERED = frozenset(["error_code", "session_id", "responses"])

    def __init__(self, authorizer: Authorizer, names: TopicNames) -> None:
        self._authorizer = authorizer
        self._names = names
        self._sessions_key = sessions_key(authorizer, FETCH)

    def request(self, ctx: Context, request: FetchRequest) -> Decision | Steps:
        """Check it, after asking for the names that are not known."""
        authorizer = authorizer_of(self._authorizer, ctx)
        if max(request.replica_id, request.replica_state.replica_id) >= 0:
            if authorizer.refuses(FETCH, Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
                return Reply(refuse(FETCH, ctx.version, request, REFUSED))  # type: ignore[arg-type]
            return None
        if ctx.version >= WITH_IDS:
            unknown = self._names.unknown(topic.topic_id for topic in turns(request.topics))
            if unknown:
                return self._ask(ctx, request, authorizer, unknown)
        session = self._sessions(ctx).get(request)
        if session is not None and session.size > ELEMENTS and not ctx.is_large:
            ctx.is_large = True
            return self._ask(ctx, request, authorizer, [])
        return self._check(ctx, request, authorizer)

    def _ask(self, ctx: Context, request: FetchRequest, authorizer: ClientAuthorizer, unknown: list[bytes]) -> Steps:
        yield from self._names.ask(unknown)
        return self._check(ctx, request, authorizer.of_request(ctx))

    def _check(self, ctx: Context, request: FetchRequest, authorizer: ClientAuthorizer) -> Decision:
        # The edition by which it is checked: what takes its turns may meet another one on the way.
        opened, before, edition = self._sessions(ctx), authorizer.recorded, authorizer.edition
        turn = opened.fetch(ctx.version, request)
        if turn.error is not None and not authorizer.is_shadow:
            return Reply(FetchResponse(error_code=turn.error, responses=[]))
        session = turn.session
        check = partial(verdict, FETCH, authorizer, self._names)
        change = session.step(turn.asked, turn.forgotten, check, edition)
        refused = [
            (FetchedTopic(topic, {**session.topics[topic]}), error)
            for topic, error in turns([*session.refused.items()])
        ]
        if opened.gives_up(request, turn):
            refused = [(one, change.refused[one.topic]) for one in turns(turn.asked) if one.topic in change.refused]
        if change.restored and session.stale:
            # Where the client is by now is not known: it begins anew, and says so.
            opened.close(request)
            return Reply(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[]))
        new, known = session if turn.opens else None, session if turn.goes_on else None
        held = TOPIC * len(refused) + REFUSAL * sum(len(one.partitions) for one, _ in turns(refused))
        held += session.held if new is not None else 0
        allowed = authorizer.recorded == before
        ctx.notes[self] = PendingFetch(authorizer, edition, refused, new, known, allowed, session.content, held)
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
        """Of what is noted of a request."""
        return frozenset({self})

    def may_repeat(self, ctx: Context) -> bool:
        """Was nothing of this request refused, and is nothing to be learnt from its answer?"""
        fetch: PendingFetch | None = ctx.notes.get(self)
        if fetch is None or fetch.edition is not fetch.authorizer.edition:
            return False
        return fetch.allowed and not fetch.refused and fetch.session is None

    def has_session(self, ctx: Context) -> bool:
        """Did this request go on with a session?"""
        fetch: PendingFetch | None = ctx.notes.get(self)
        return fetch is not None and fetch.of is not None

    def repeats(self, ctx: Context, epoch: int) -> bool:
        """May the next request of the same session pass that is like this one, but for offsets and the like?"""
        fetch: PendingFetch = ctx.notes[self]
        session = fetch.of
        if session is None or not session.is_open or session.refused or session.epoch != epoch:
            return False
        if session.content is not fetch.content:
            return False  # it may say something else now: what was forgotten meanwhile would come back unread
        session.advance()
        session.stale = True
        return True

    def _sessions(self, ctx: Context) -> FetchSessions[AuthorizedSession]:
        return sessions(ctx.connection, self._sessions_key)

    def is_needed(self, ctx: Context) -> bool:
        """Must the answer be looked at?"""
        fetch: PendingFetch | None = ctx.notes.get(self)
        if fetch is None:
            return False
        return fetch.authorizer.current() is not fetch.edition or bool(fetch.refused) or fetch.session is not None

    def response(self, ctx: Context, response: FetchResponse) -> Decision:
        """Check the answer where the rules have changed, and say what was refused."""
        fetch: PendingFetch = ctx.notes[self]
        if response.error_code:
            return None
        if fetch.session is not None and response.session_id:
            self._sessions(ctx).open(response.session_id, fetch.session)
        withheld = False
        fetch.authorizer.answers(ctx)
        if fetch.authorizer.current() is not fetch.edition:
            for topic in response.responses:
                withheld |= self._withhold(fetch.authorizer, topic, ctx.version)
        if not withheld and not fetch.refused:
            return None
        self._refuse(response, ctx.version, fetch.refused)
        return Forward(response)

    def _withhold(self, authorizer: ClientAuthorizer, topic: Any, version: int) -> bool:
        """Put the refusal in the place of the records of a topic that may not be read any more."""
        error = verdict(FETCH, authorizer, self._names, named(topic, version))
        if error is None:
            return False
        indexes = [partition.partition_index for partition in turns(topic.partitions)]
        bare = {index: Partition(partition=index, fetch_offset=0, partition_max_bytes=0) for index in indexes}
        topic.partitions = refused_topic(FETCH, version, FetchedTopic(named(topic, version), bare), error).partitions
        return True

    def _refuse(self, response: FetchResponse, version: int, refused: Iterable[tuple[FetchedTopic, int]]) -> None:
        response.responses += (refused_topic(FETCH, version, fetched, error) for fetched, error in turns(refused))
