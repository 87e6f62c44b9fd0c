"""Called requests: of a request that begins like one that was read, only the names of its topics are looked at.

A producer sends the same request with other records to more and fewer topics, a consumer without a session likewise:
reading one takes 20 us and 5 a topic, calling its topics 1 and 0.02.

# What stands before the topics must be as in a request that was read and passed: who asks, the transaction, that there
# is an answer; that it is a consumer's, and without a session. Every name must be one that may be used, by the same
# edition of the client's rights.
# Nothing is kept of a request of which anything was refused (in shadow too), or that its records might have refused.
# After the last name of a Produce request there can be no other: of a large one the rest need not have come. A Fetch
# request has more behind its topics, and is gone over to its end.
# One with tagged fields is always read: there a follower says who it is.
# All that pass so share the context of the one that was read.
"""

from __future__ import annotations

from typing import NamedTuple

from plugins.acl.checks import TOPIC
from plugins.acl.fetch import Fetching
from plugins.acl.law import ANSWER, LONGEST, Law, Rights
from plugins.acl.produce import WITH_IDS as PRODUCED_BY_ID
from plugins.acl.produce import Producing
from proxy.core.context import Connection, Context
from proxy.core.fetch_sessions import WITH_IDS as FETCHED_BY_ID
from proxy.core.topic_names import TopicNames
from proxy.protocol.codec import BAD_BYTES, start_finder
from proxy.protocol.frame import REQUEST_HEAD
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.rollcall import nobody, rollcall
from proxy.protocol.schema import Request
from rules import Operation

HEAD = REQUEST_HEAD.size
MOST = 10_000  # names that are known on one connection
NEW = 300  # names that are asked about at once; a request with more that are new is read, in slices
LOOKED_AT = 2 << 20  # bytes; calling all that fits in these takes up to 40 ms, where all is names


class Kind(NamedTuple):
    """What is called: the array of topics, the names in it, and what is asked about them."""

    request: type[Request]
    topics: str
    name: str
    by_id_since: int
    operation: Operation
    whole: bool  # is there something behind the topics?


PRODUCED = Kind(ProduceRequest, "topic_data", "name", PRODUCED_BY_ID, Operation.WRITE, whole=False)
FETCHED = Kind(FetchRequest, "topics", "topic", FETCHED_BY_ID, Operation.READ, whole=True)


class Called:
    """A request that was read and passed, for others that begin like it. `known` are names that may be used."""

    __slots__ = ("api", "begins", "ctx", "edition", "granted", "known", "strangers")

    def __init__(self, kind: Kind, ctx: Context, granted: Rights, begins: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx = ctx
        self.granted = granted
        self.edition = granted.edition
        self.begins = begins  # what follows the head, as far as to the topics
        self.strangers = rollcall(
            kind.request, ctx.version, kind.name, "topic_id", begins_at=kind.topics, whole=kind.whole
        )
        self.known = nobody()

    @property
    def held(self) -> int:
        """Bytes that the names take, at a guess."""
        return len(self.known) * ANSWER

    def let_go(self) -> None:
        """Forget the names: they can be asked about again."""
        self.known.clear()


class Calling:
    """What passed on each connection: a FastPath."""

    def __init__(self, kind: Kind, law: Law, names: TopicNames, judge: Producing | Fetching) -> None:
        self._kind = kind
        self._law = law
        self._names = names
        self._judge = judge

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the earlier request that this one begins like, if all its topics may be used."""
        called: Called | None = connection.notes.get(self)
        if called is None or called.api != api or called.granted.current() is not called.edition:
            return None
        if len(frame) > LOOKED_AT:
            return None
        try:
            strangers = called.strangers(frame, HEAD, called.begins, called.known)
        except BAD_BYTES:
            return None  # more is to come; or whoever reads it says what is wrong
        if strangers is None or (strangers and not self._meet(called, strangers)):
            return None
        return called.ctx

    def _meet(self, called: Called, strangers: list[bytes]) -> bool:
        """May all of these be used? Those that may are known from now on, some with each request."""
        for said in strangers[:NEW]:
            if not self._may(called, said):
                return False
            if len(called.known) >= MOST:
                called.known.clear()
            if len(said) <= LONGEST:
                called.known.add(said)
        return len(strangers) <= NEW

    def _may(self, called: Called, said: bytes) -> bool:
        if called.ctx.version >= self._kind.by_id_since:
            name = self._names.get(said)
        else:
            try:
                name = said.decode()
            except UnicodeDecodeError:
                return False  # whoever reads it says what is wrong
        return name is not None and called.granted.may(self._kind.operation, TOPIC, name)

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """This one was read, and passes."""
        if not self._judge.may_repeat(ctx):
            return
        granted: Rights = ctx.connection.notes[self._law]
        topics = start_finder(self._kind.request, ctx.version, self._kind.topics)(frame, body)
        ctx.connection.notes[self] = Called(self._kind, ctx.as_sample(), granted, bytes(frame[HEAD:topics]))
