"""Topics fast path: if a request begins like one that was read, only the names of its topics are checked.

A producer sends the same request with other records for varying topics, and so does a consumer without a session.
Reading a request takes 20 us, and 5 more for each topic. Checking only its topics takes 1 us, and 0.02 for each.

Rules:
* The bytes before the topics must be those of a request that was read and passed. They have the client id, the
  transaction and the acks of a Produce request; of a Fetch, that it is a consumer's and without a session. The client
  must be allowed to use every topic, by the same edition of its authorizer.
* A request of which something was refused (in shadow too), or could be with other records, is no sample.
* A Produce request has no topic after the last name, so the rest of a large one need not have arrived. A Fetch request
  has more after its topics, and is walked to its end.
* A Fetch request with tagged fields is always read: a follower gives its replica id there.
* All requests that pass so share the context of the one that was read.
"""

from __future__ import annotations

from typing import NamedTuple

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import ClientAuthorizer, size
from plugins.acl.errors import TOPIC
from plugins.acl.fetch import FetchHandlers
from plugins.acl.produce import WITH_IDS as PRODUCE_BY_ID
from plugins.acl.produce import ProduceHandlers
from proxy.plugin import Connection, Context, FetchRequest, ProduceRequest, Request, TopicNames
from proxy.plugin.fetching import WITH_IDS as FETCH_BY_ID
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, nobody, rollcall, start_finder
from proxy.plugin.schema import LONGEST_TOPIC
from rules import Operation

HEAD = REQUEST_HEAD.size
MOST = 10_000  # names that are known on one connection
NEW = 300  # new names that are decided at once; a request with more is read, in slices
LOOKED_AT = 2 << 20  # bytes of a request; checking one takes up to 2 ms: it has a limit of names (`rollcall.py`)


class TopicsLayout(NamedTuple):
    """The position of the topics in a request, and the right that they need."""

    request: type[Request]
    topics: str
    name: str
    by_id_since: int
    operation: Operation
    whole: bool  # whether something follows the topics


PRODUCE_TOPICS = TopicsLayout(ProduceRequest, "topic_data", "name", PRODUCE_BY_ID, Operation.WRITE, whole=False)
FETCH_TOPICS = TopicsLayout(FetchRequest, "topics", "topic", FETCH_BY_ID, Operation.READ, whole=True)


class TopicsSample:
    """A request that was read and passed, as a sample for others. `known` has the topics that may be used."""

    __slots__ = ("_size", "api", "authorizer", "begins", "ctx", "edition", "known", "strangers")

    def __init__(self, kind: TopicsLayout, ctx: Context, authorizer: ClientAuthorizer, begins: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx = ctx
        self.authorizer = authorizer
        self.edition = authorizer.edition
        self.begins = begins  # the bytes from the end of the head to the topics
        self.strangers = rollcall(
            kind.request, ctx.version, kind.name, "topic_id", begins_at=kind.topics, whole=kind.whole
        )
        self.known = nobody()
        self._size = 0  # bytes that the names take

    @property
    def held(self) -> int:
        """Bytes that the names take, and what stands before them."""
        return self._size + len(self.begins)

    def know(self, name: bytes) -> None:
        """Note that this name may be used."""
        if len(self.known) >= MOST:
            self.let_go()
        before = len(self.known)
        if len(name) <= LONGEST_TOPIC:
            self.known.add(name)
        if len(self.known) > before:
            self._size += size(name)

    def let_go(self) -> None:
        """Forget the names; the rules can decide again."""
        self.known.clear()
        self._size = 0


class TopicsFastPath:
    """A FastPath with one sample on each connection."""

    counts = False

    def __init__(
        self, kind: TopicsLayout, authorizer: Authorizer, names: TopicNames, handlers: ProduceHandlers | FetchHandlers
    ) -> None:
        self._kind = kind
        self._authorizer = authorizer
        self._names = names
        self._handlers = handlers

    @property
    def keys(self) -> frozenset[object]:
        """The keys under which the handlers note something."""
        return self._handlers.keys

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the sample, if this request begins like it and all its topics may be used."""
        sample: TopicsSample | None = connection.samples.get(self)
        if sample is None or sample.api != api or sample.authorizer.current() is not sample.edition:
            return None
        if len(frame) > LOOKED_AT:
            return None
        try:
            strangers = sample.strangers(frame, HEAD, sample.begins, sample.known)
        except BAD_BYTES:
            return None  # more bytes are to come, or the reader of the request will report the error
        if strangers is None or (strangers and not self._meet(sample, strangers)):
            return None
        return sample.ctx

    def _meet(self, sample: TopicsSample, strangers: list[bytes]) -> bool:
        """Whether all of these names may be used. Up to NEW of them become known with each request."""
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
                return False  # the reader of the request will report the error
        return name is not None and sample.authorizer.may(self._kind.operation, TOPIC, name)

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """Keep a request that was read and passed, if others like it may pass."""
        if not self._handlers.may_repeat(ctx):
            return
        authorizer: ClientAuthorizer = ctx.connection.notes[self._authorizer.name]
        topics = start_finder(self._kind.request, ctx.version, self._kind.topics)(frame, body)
        ctx.connection.samples[self] = TopicsSample(self._kind, ctx.as_sample(), authorizer, bytes(frame[HEAD:topics]))
