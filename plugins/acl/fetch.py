"""Fetch: records of topics that the client may read, over sessions that the broker keeps (KIP-227).

# A request is judged by its session; `sessions.py` says what the broker is told. One without is judged by itself.
# An incremental request of a session that is not known on this connection finds none: the client begins anew. One whose
# turn it is not, or that speaks of names where its session has ids, is refused as its broker would.
# A fetch may wait long at the broker. If the rights are others when it is answered, the answer is judged again before
# any of its records leaves. If they are not, and nothing was refused, it passes unread.
# A short request goes on with all of its session: where this is large it is judged in slices all the same.
# A follower's fetch (a replica id of 0 or above) needs the right of brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plugins.acl.law import Law, Rights, rights
from plugins.acl.names import Names
from plugins.acl.sessions import Asked, Session, Sessions, Topic
from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward, Reply, Steps
from proxy.protocol.api import FETCH
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.refuse import Refusal, refuse
from proxy.protocol.slices import ELEMENTS
from rules import Operation, ResourceType

WITH_IDS = 13
WITH_SESSIONS = 7
NEW, NONE = 0, -1  # epochs of full requests
REFUSAL = 100  # bytes that one takes, of a partition
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@dataclass(slots=True)
class Watch:
    """What a request leaves to be done to its answer."""

    rights: Rights
    edition: object
    refused: list[tuple[Asked, int]]  # topics with their errors
    session: Session | None  # a new one, if the broker makes it
    of: Session | None = None  # the one that it goes on with
    allowed: bool = False  # nothing was refused, in shadow neither
    content: object = None  # what its session had after it
    held: int = 0  # bytes that the refusals take until they are told, at a guess


class Fetching:
    """Fetch requests and their answers."""

    SESSION = frozenset(["session_id", "session_epoch", "topics", "forgotten_topics_data"])
    FIELDS = SESSION | {"replica_id", "replica_state"}
    ANSWERED = frozenset(["error_code", "session_id", "responses"])

    def __init__(self, law: Law, names: Names) -> None:
        self._law = law
        self._names = names

    def request(self, ctx: Context, request: FetchRequest) -> Decision | Steps:
        """Judge it, after asking for the names that are not known."""
        granted = rights(self._law, ctx)
        if max(request.replica_id, request.replica_state.replica_id) >= 0:
            if granted.refuses(FETCH, Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
                return Reply(refuse(FETCH, ctx.version, request, REFUSED))  # type: ignore[arg-type]
            return None
        if ctx.version >= WITH_IDS:
            unknown = self._names.unknown(topic.topic_id for topic in turns(request.topics))
            if unknown:
                return self._ask(ctx, request, granted, unknown)
        session = self._sessions(ctx).get(request.session_id)
        if session is not None and session.size > ELEMENTS and not ctx.is_large:
            ctx.is_large = True
            return self._ask(ctx, request, granted, [])
        return self._judge(ctx, request, granted)

    def _ask(self, ctx: Context, request: FetchRequest, granted: Rights, unknown: list[bytes]) -> Steps:
        yield from self._names.ask(unknown)
        granted.current()
        return self._judge(ctx, request, granted)

    def _judge(self, ctx: Context, request: FetchRequest, granted: Rights) -> Decision:
        # The edition by which it is judged: what takes its turns may meet another one on the way.
        sessions, before, edition = self._sessions(ctx), granted.recorded, granted.edition
        asked = [
            Asked(key(topic, ctx.version), {p.partition: p for p in turns(topic.partitions)})
            for topic in turns(request.topics)
        ]
        by_id = ctx.version >= WITH_IDS
        session, new, known = Session(by_id=by_id), None, None
        forgotten: list[Asked] = []
        if ctx.version < WITH_SESSIONS or request.session_epoch in (NEW, NONE):
            # A full request: what it forgets is not heeded.
            sessions.close(request.session_id)
            if ctx.version >= WITH_SESSIONS and request.session_epoch == NEW:
                new = session
        else:
            found = sessions.get(request.session_id)
            error = _turned_away(found, request.session_epoch, by_id=by_id)
            if error and not granted.is_shadow:
                return Reply(FetchResponse(error_code=error, responses=[]))
            if found is not None and not error:
                session = known = found
                session.advance()
            forgotten = [
                Asked(key(topic, ctx.version), dict.fromkeys(topic.partitions))
                for topic in turns(request.forgotten_topics_data)
            ]
        change = session.step(asked, forgotten, lambda topic: self._verdict(granted, topic), edition)
        refused = [
            (Asked(topic, {**session.wanted[topic]}), error) for topic, error in turns([*session.refused.items()])
        ]
        if known is not None and not session.wanted:
            # Brokers give up a session that is empty, and answer what was asked as if there were none.
            sessions.close(request.session_id)
            refused = [(one, change.refused[one.topic]) for one in turns(asked) if one.topic in change.refused]
        if change.restored and session.stale:
            # Where the client is by now is not known: it begins anew, and says so.
            sessions.close(request.session_id)
            return Reply(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[]))
        held = REFUSAL * sum(len(one.partitions) for one, _ in turns(refused))
        allowed = granted.recorded == before
        ctx.notes[self] = Watch(granted, edition, refused, new, known, allowed, session.content, held)
        if not change.changed:
            return None
        request.topics = [_topic(one, ctx.version) for one in turns(change.topics)]
        request.forgotten_topics_data += (_forgotten(one, ctx.version) for one in turns(change.forgotten))
        if new is None and ctx.version < WITH_SESSIONS and not request.topics:
            answer = FetchResponse(responses=[])
            self._refuse(answer, ctx.version, refused)
            return Reply(answer)
        return Forward(request)

    def may_repeat(self, ctx: Context) -> bool:
        """Was nothing of this request refused, and is nothing to be learnt from its answer?"""
        watch: Watch | None = ctx.notes.get(self)
        if watch is None or watch.edition is not watch.rights.edition:
            return False
        return watch.allowed and not watch.refused and watch.session is None

    def has_session(self, ctx: Context) -> bool:
        """Did this request go on with a session?"""
        watch: Watch | None = ctx.notes.get(self)
        return watch is not None and watch.of is not None

    def repeats(self, ctx: Context, epoch: int) -> bool:
        """May the next request of the same session pass that is like this one, but for offsets and the like?"""
        watch: Watch = ctx.notes[self]
        session = watch.of
        if session is None or not session.is_open or session.refused or session.epoch != epoch:
            return False
        if session.content is not watch.content:
            return False  # it may say something else now: what was forgotten meanwhile would come back unread
        session.advance()
        session.stale = True
        return True

    def _sessions(self, ctx: Context) -> Sessions[int]:
        found: Sessions[int] = ctx.connection.notes.setdefault(self, Sessions())
        return found

    def _verdict(self, granted: Rights, topic: Topic) -> int | None:
        name = self._names.of(topic)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return REFUSED if granted.refuses(FETCH, Operation.READ, ResourceType.TOPIC, name) else None

    def is_needed(self, ctx: Context) -> bool:
        """Must the answer be looked at?"""
        watch: Watch | None = ctx.notes.get(self)
        if watch is None:
            return False
        return watch.rights.current() is not watch.edition or bool(watch.refused) or watch.session is not None

    def response(self, ctx: Context, response: FetchResponse) -> Decision:
        """Judge the answer where the rights have changed, and say what was refused."""
        watch: Watch = ctx.notes[self]
        if response.error_code:
            return None
        if watch.session is not None and response.session_id:
            self._sessions(ctx).open(response.session_id, watch.session)
        withheld = False
        if watch.rights.current() is not watch.edition:
            for topic in response.responses:
                withheld |= self._withhold(watch.rights, topic, ctx.version)
        if not withheld and not watch.refused:
            return None
        self._refuse(response, ctx.version, watch.refused)
        return Forward(response)

    def _withhold(self, granted: Rights, topic: Any, version: int) -> bool:
        """Put the refusal in the place of the records of a topic that may not be read any more."""
        error = self._verdict(granted, key(topic, version))
        if error is None:
            return False
        asked = Asked(
            key(topic, version), {p.partition_index: _partition(p.partition_index) for p in turns(topic.partitions)}
        )
        topic.partitions = _refusal(asked, error, version).partitions
        return True

    def _refuse(self, response: FetchResponse, version: int, refused: Iterable[tuple[Asked, int]]) -> None:
        response.responses += (_refusal(asked, error, version) for asked, error in turns(refused))


def _turned_away(session: Session | None, epoch: int, *, by_id: bool) -> ErrorCode | None:
    """The error with which a broker answers a request that would go on with this session; None: it is served."""
    if session is None:
        return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    if session.epoch != epoch:
        return ErrorCode.INVALID_FETCH_SESSION_EPOCH
    return None if session.by_id is by_id else ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def key(topic: Any, version: int) -> Topic:
    """What a topic of a request or an answer is called in this version."""
    named: Topic = topic.topic_id if version >= WITH_IDS else topic.topic
    return named


def _partition(index: int) -> FetchRequest.Topic.Partition:
    return FetchRequest.Topic.Partition(partition=index, fetch_offset=0, partition_max_bytes=0)


def _named(cls: type[Any], topic: Topic, version: int, **more: Any) -> Any:
    return cls(**more, **({"topic_id": topic} if version >= WITH_IDS else {"topic": topic}))


def _topic(asked: Asked, version: int) -> FetchRequest.Topic:
    topic: FetchRequest.Topic = _named(
        FetchRequest.Topic, asked.topic, version, partitions=[*asked.partitions.values()]
    )
    return topic


def _forgotten(asked: Asked, version: int) -> FetchRequest.ForgottenTopic:
    forgotten: FetchRequest.ForgottenTopic = _named(
        FetchRequest.ForgottenTopic, asked.topic, version, partitions=[*asked.partitions]
    )
    return forgotten


def _refusal(asked: Asked, error: int, version: int) -> FetchResponse.Topic:
    """What the answer says of a topic that was refused."""
    topic = _topic(asked, version)
    refused: FetchResponse.Topic = Refusal(FETCH, version, error, None).of(FetchResponse.Topic, (topic, topic))
    return refused
