"""Topics fast path: if a request begins like one that was read, only the names of its topics are checked.

A producer sends the same request with other records for varying topics, and so does a consumer without a session.
Reading a request takes 20 us, and 5 more for each topic. Checking only its topics takes 0.5 us, and 0.02 for each.

Rules:
* The bytes before the topics must be those of a request that was read and passed. They have the client id, the
  transaction and the acks of a Produce request; of a Fetch, that it is a consumer's and without a session.
* Every topic must have been in a request that was read and passed, by the same edition of the client's authorizer.
  Nothing is decided here: decisions take time, and what a fast path does is not counted as work.
* A request of which something was refused (in shadow too), or could be with other records, is no sample. Neither is a
  Fetch that ends a session. The topics that a Fetch without a session forgets were not checked: their names do not
  become known.
* Some requests are the same but for what does not matter: a Produce request of one topic as far as its name, a short
  Fetch but for its offsets. Others like them pass likewise, and nothing is looked up.
* A Produce request has no topic after the last name, so the rest of a large one need not have arrived. If other rules
  are in force when its last byte comes, that byte is withheld: a client may take half an hour to send 100 MB. A Fetch
  request has more after its topics, and is walked to its end.
* The answer to a Fetch may come late. It passes unread only if the same edition is in force then. No answer to a
  Produce request is read.
* A Fetch request with tagged fields is always read: a follower gives its replica id there.
* All requests that pass so share the context of the first that was read.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.fetch import FetchHandlers
from plugins.acl.produce import ProduceHandlers
from proxy.plugin import Connection, Context, FetchRequest, ProduceRequest, Request
from proxy.plugin.frames import (
    BAD_BYTES,
    REQUEST_HEAD,
    Beginning,
    Certain,
    KnownTopics,
    rollcall,
    spans_finder,
    start_finder,
)

HEAD = REQUEST_HEAD.size
MOST = 10_000  # names that are known on one connection
NEW = 300  # names that become known with each request: others wait meanwhile
OFFSETS = (
    "current_leader_epoch",
    "fetch_offset",
    "last_fetched_epoch",
    "log_start_offset",
    "partition_max_bytes",
)
LOOKED_AT = 2 << 20  # bytes of a request; checking one takes up to 2 ms: it has a limit of names (`rollcall.py`)


class TopicsLayout(NamedTuple):
    """The position of the topics in a request."""

    request: type[Request]
    topics: str
    name: str
    whole: bool  # whether something follows the topics
    varying: tuple[str, ...] = ()  # fields of which the values do not matter


PRODUCE_TOPICS = TopicsLayout(ProduceRequest, "topic_data", "name", whole=False)
FETCH_TOPICS = TopicsLayout(FetchRequest, "topics", "topic", whole=True, varying=OFFSETS)


class TopicsSample:
    """A request that was read and passed, as a sample for others. `known` has the topics that may be used.

    `holds`: are the rules in force by which it passed?
    """

    __slots__ = ("_checked", "_strangers", "api", "authorizer", "begins", "ctx", "edition", "holds", "known")

    def __init__(self, kind: TopicsLayout, ctx: Context, authorizer: ClientAuthorizer, begins: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx = ctx
        ctx.still = partial(authorizer.still_has, authorizer.rights)
        ctx.unneeded = self.holds = partial(authorizer.decides_by, authorizer.edition)
        self.authorizer = authorizer
        self.edition = authorizer.edition
        self.begins = begins  # the bytes from the end of the head to the topics
        called = partial(rollcall, kind.request, ctx.version, kind.name, "topic_id", begins_at=kind.topics)
        self._strangers = called(whole=kind.whole)
        self._checked = called(ends_at=kind.topics)
        self.known = KnownTopics(MOST)

    @property
    def held(self) -> int:
        """Bytes that the names take, and what stands before them."""
        return self.known.held + len(self.begins)

    def strangers(self, frame: memoryview) -> list[bytes] | None:
        """The names and ids in this request that are not known. None: it is not like the sample, or cannot be told."""
        try:
            return self._strangers(frame, HEAD, self.begins, self.known.values)
        except BAD_BYTES:
            return None  # more bytes are to come, or the reader of the request reports the error

    def goes_on(self, data: memoryview, start: int, stop: int) -> bool:
        """May a request pass that begins like the sample, if its topics begin at `start`? See `Beginning.rest`."""
        topics = data[start:stop]
        if len(topics) > LOOKED_AT or not self.holds():
            return False
        try:
            return self._strangers(topics, 0, b"", self.known.values) == []
        except BAD_BYTES:
            return False

    def learn(self, frame: memoryview) -> None:
        """This request was read and passed: NEW of the names in its topics become known at most."""
        try:
            found = self._checked(frame, HEAD, self.begins, self.known.values)
        except BAD_BYTES:
            return
        for name in (found or ())[:NEW]:
            self.known.add(name)

    def is_for(self, ctx: Context, authorizer: ClientAuthorizer, begins: bytes) -> bool:
        """Is it for requests that begin like this, by the rules that are in force?"""
        said = ctx.api.key << 16 | ctx.version, authorizer, authorizer.edition, begins
        return (self.api, self.authorizer, self.edition, self.begins) == said

    def let_go(self) -> None:
        """Forget the names: requests are read once more."""
        self.known.clear()


class TopicsFastPath:
    """A FastPath with one sample on each connection."""

    counts = False

    def __init__(self, kind: TopicsLayout, handlers: ProduceHandlers | FetchHandlers) -> None:
        self._kind = kind
        self._handlers = handlers
        self.keys = handlers.keys

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the sample, if this request begins like it and all its topics are known."""
        sample: TopicsSample | None = connection.samples.get(self)
        if sample is None or sample.api != api:
            return None
        if not sample.holds():
            del connection.samples[self]  # its notes keep rules in memory that were replaced
            sample.let_go()  # the link may keep it, for how requests begin
            return None
        return sample.ctx if len(frame) <= LOOKED_AT and sample.strangers(frame) == [] else None

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """Keep a request that was read and passed, or its names, if others like it may pass."""
        authorizer = self._handlers.repeated_by(ctx)
        if authorizer is None:
            return None
        topics = start_finder(self._kind.request, ctx.version, self._kind.topics)(frame, body)
        begins = bytes(frame[HEAD:topics])
        sample: TopicsSample | None = ctx.connection.samples.get(self)
        if sample is None or not sample.is_for(ctx, authorizer, begins):
            if sample is not None:
                sample.let_go()  # the link may keep it, for how requests begin
            sample = ctx.connection.samples[self] = TopicsSample(self._kind, ctx.as_sample(), authorizer, begins)
        if len(frame) <= LOOKED_AT:
            sample.learn(frame)
        return Beginning(topics, sample.goes_on, sample.ctx, self._certain(ctx, sample, frame, body))

    def _certain(self, ctx: Context, sample: TopicsSample, frame: memoryview, body: int) -> Certain | None:
        """Which requests pass that are the same as this one, but for what does not matter."""
        kind, version = self._kind, ctx.version
        if ctx.is_large or sample.strangers(frame) != []:
            return None
        try:
            if kind.whole:
                *varying, _ = spans_finder(kind.request, version, *kind.varying)(frame, body)
                return Certain(len(frame), sample.holds, varying, exact=True)
            *names, _ = spans_finder(kind.request, version, kind.name, "topic_id")(frame, body)
        except BAD_BYTES:
            return None  # what follows the topics cannot be read; the broker will refuse it
        return Certain(names[0][1], sample.holds) if len(names) == 1 else None
