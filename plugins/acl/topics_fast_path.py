"""Topics fast path: of a request that begins like one that was read, only the names of its topics are looked at.

A producer sends the same request with other records to more and fewer topics, a consumer without a session likewise.
Reading one takes 20 us and 5 a topic; looking at its topics takes 1 and 0.02.

# What stands before the topics must be as in a request that was read and passed: who asks, the transaction, that there
# is an answer; that it is a consumer's, and without a session. The client must be allowed to use every name, by the
# same edition of its authorizer.
# Nothing is remembered of a request of which anything was refused (in shadow too), or might be by other records.
# After the last name of a Produce request there can be no other: of a large one the rest need not have come. A Fetch
# request has more behind its topics, and is gone over to its end.
# One with tagged fields is always read: there a follower says who it is.
# All that pass so share the context of the one that was read.
"""

from __future__ import annotations

from typing import NamedTuple

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import LONGEST_NAME, ClientAuthorizer, size
from plugins.acl.errors import TOPIC
from plugins.acl.fetch import FetchHandlers
from plugins.acl.produce import WITH_IDS as PRODUCE_BY_ID
from plugins.acl.produce import ProduceHandlers
from proxy.plugin import Connection, Context, FetchRequest, ProduceRequest, Request, TopicNames
from proxy.plugin.fetching import WITH_IDS as FETCH_BY_ID
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, nobody, rollcall, start_finder
from rules import Operation

HEAD = REQUEST_HEAD.size
MOST = 10_000  # names that are known on one connection
NEW = 300  # names that are asked about at once; a request with more that are new is read, in slices
LOOKED_AT = 2 << 20  # bytes; looking at all that fits in these takes up to 40 ms, where all is names


class TopicsLayout(NamedTuple):
    """Where the topics of a request stand, and which right they need."""

    request: type[Request]
    topics: str
    name: str
    by_id_since: int
    operation: Operation
    whole: bool  # does something follow the topics?


PRODUCE_TOPICS = TopicsLayout(ProduceRequest, "topic_data", "name", PRODUCE_BY_ID, Operation.WRITE, whole=False)
FETCH_TOPICS = TopicsLayout(FetchRequest, "topics", "topic", FETCH_BY_ID, Operation.READ, whole=True)


class TopicsSample:
    """A request that was read and passed, for others that begin like it. `known` are topics that may be used."""

    __slots__ = ("_size", "api", "authorizer", "begins", "ctx", "edition", "known", "strangers")

    def __init__(self, kind: TopicsLayout, ctx: Context, authorizer: ClientAuthorizer, begins: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx = ctx
        self.authorizer = authorizer
        self.edition = authorizer.edition
        self.begins = begins  # what follows the head, as far as to the topics
        self.strangers = rollcall(
            kind.request, ctx.version, kind.name, "topic_id", begins_at=kind.topics, whole=kind.whole
        )
        self.known = nobody()
        self._size = 0  # bytes that the names take

    @property
    def held(self) -> int:
        """Bytes that the names take."""
        return self._size

    def know(self, name: bytes) -> None:
        """This name may be used."""
        if len(self.known) >= MOST:
            self.let_go()
        before = len(self.known)
        if len(name) <= LONGEST_NAME:
            self.known.add(name)
        if len(self.known) > before:
            self._size += size(name)

    def let_go(self) -> None:
        """Forget the names: they can be asked about again."""
        self.known.clear()
        self._size = 0


class TopicsFastPath:
    """A FastPath: what passed on each connection."""

    counts = False

    def __init__(
        self, kind: TopicsLayout, authorizer: Authorizer, names: TopicNames, handlers: ProduceHandlers | FetchHandlers
    ) -> None:
        self._kind = kind
        self._authorizer = authorizer
        authorizer.caches.append(self)
        self._names = names
        self._handlers = handlers

    @property
    def keys(self) -> frozenset[object]:
        """Of what the handlers note."""
        return self._handlers.keys

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the earlier request that this one begins like, if all its topics may be used."""
        sample: TopicsSample | None = connection.notes.get(self)
        if sample is None or sample.api != api or sample.authorizer.current() is not sample.edition:
            return None
        if len(frame) > LOOKED_AT:
            return None
        try:
            strangers = sample.strangers(frame, HEAD, sample.begins, sample.known)
        except BAD_BYTES:
            return None  # more is to come; or whoever reads it says what is wrong
        if strangers is None or (strangers and not self._meet(sample, strangers)):
            return None
        return sample.ctx

    def _meet(self, sample: TopicsSample, strangers: list[bytes]) -> bool:
        """May all of these be used? Those that may are known from now on, some with each request."""
        for said in strangers[:NEW]:
            if not self._may(sample, said):
                return False
            sample.know(said)
        return len(strangers) <= NEW

    def _may(self, sample: TopicsSample, said: bytes) -> bool:
        if sample.ctx.version >= self._kind.by_id_since:
            name = self._names.get(said)
        else:
            try:
                name = said.decode()
            except UnicodeDecodeError:
                return False  # whoever reads it says what is wrong
        return name is not None and sample.authorizer.may(self._kind.operation, TOPIC, name)

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """This one was read, and passes."""
        if not self._handlers.may_repeat(ctx):
            return
        authorizer: ClientAuthorizer = ctx.connection.notes[self._authorizer.name]
        topics = start_finder(self._kind.request, ctx.version, self._kind.topics)(frame, body)
        ctx.connection.notes[self] = TopicsSample(self._kind, ctx.as_sample(), authorizer, bytes(frame[HEAD:topics]))
