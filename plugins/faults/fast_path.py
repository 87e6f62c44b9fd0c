"""Fast path: requests that no fault can be about pass without being read.

Reading a small Produce request and comparing it with the faults takes 60 us, knowing that it need not be takes 0.5.

# Where no fault can be about requests of this API by this client, it does not matter what they are about.
# Of Produce and Fetch requests the topics are looked at, where each fault names topics: a request that begins like one
# that was read and passed, and is about topics alone that no fault names, passes too. All others are read.
# So does the next request of a fetch session that goes on here: it is the same but for how often the session was used.
# It holds until the faults or the client change (`ConnectionFaults`).
# What passes so is no nearer to a fault than what was read before it: its near misses are in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plugins.faults.connection_faults import ConnectionFaults, UnmeantSession, faults_of
from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from proxy.plugin import FETCH, PRODUCE, Connection, Context, FetchRequest, ProduceRequest, TopicNames
from proxy.plugin.frames import (
    BAD_BYTES,
    REQUEST_HEAD,
    TOPICS,
    Beginning,
    RequestTopics,
    end_finder,
    nobody,
    rollcall,
    spans_finder,
    start_finder,
)

HEAD = REQUEST_HEAD.size
MOST = 1_000  # topics that are known on one connection
LONGEST_NAME = 249  # bytes of a name that is known: Kafka's longest
ENTRY = 100  # bytes that one takes, beside its name
EPOCH = 4  # bytes
LOOKED_AT = 64 << 10  # bytes; looking at all that fits in these takes up to 2 ms, where all is names


class Unmeant:
    """No fault is about any request of this API by this client. `header` says again who it is."""

    __slots__ = ("api", "ctx", "header", "of")

    def __init__(self, ctx: Context, of: ConnectionFaults, header: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx, self.of, self.header = ctx, of, header

    def are_all(self, frame: memoryview) -> bool:
        """May this request pass?"""
        return frame[HEAD : HEAD + len(self.header)] == self.header


class RequestBeginning(NamedTuple):
    """What follows the head of a request, as far as to its topics: all of it, or as far as to the epoch of a session.

    `rest` follows that epoch, which is another one each time.
    """

    start: bytes
    rest: bytes = b""
    session: UnmeantSession | None = None

    def as_in(self, frame: memoryview) -> bytes:
        """With the epoch that this request has, if it goes on with the session; what none begins with, else."""
        if self.session is None:
            return self.start
        at = HEAD + len(self.start)
        epoch = bytes(frame[at : at + EPOCH])
        return self.start + epoch + self.rest if int.from_bytes(epoch, signed=True) > 0 else b""


class UnmeantTopics(Unmeant):
    """Topics that no fault is about, and how requests begin that pass where they name no others."""

    __slots__ = ("_known", "_size", "_strangers", "begins")

    def __init__(self, ctx: Context, of: ConnectionFaults, begins: RequestBeginning) -> None:
        super().__init__(ctx, of, b"")  # it is in what they begin with
        request = ctx.api.request
        array, name = TOPICS[request]
        self.begins = begins
        self._strangers = rollcall(request, ctx.version, name, "topic_id", begins_at=array, ends_at=array)
        self._known = nobody()
        self._size = 0

    @property
    def held(self) -> int:
        """Bytes that the names take."""
        return self._size

    def let_go(self) -> None:
        """Forget the names: requests about them are read once more."""
        self._known.clear()
        self._size = 0

    def know(self, topics: Iterable[str | bytes]) -> None:
        """No fault is about these, which are names or ids."""
        for topic in topics:
            name = topic.encode() if isinstance(topic, str) else topic
            if len(self._known) >= MOST:
                self.let_go()
            if len(name) <= LONGEST_NAME:
                self._known.add(name)
                self._size += len(name) + ENTRY

    def are_all(self, frame: memoryview) -> bool:
        """Does a request begin so, and name no other topics?"""
        begins, session = self.begins.as_in(frame), self.begins.session
        if not begins or (session is not None and session is not self.of.session):
            return False
        try:
            return self._strangers(frame[:LOOKED_AT], HEAD, begins, self._known) == []
        except BAD_BYTES:
            return False  # more is to come; or whoever reads it says what is wrong


class FaultsFastPath:
    """A FastPath. `names`: what topics are called that requests give the ids of."""

    counts = False

    def __init__(self, key: str, in_force: FaultsInForce, names: TopicNames) -> None:
        self._key, self._in_force, self._names = key, in_force, names
        self.keys = frozenset({key})

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The earlier request that this one begins like, if no fault is about any of its topics."""
        known: Unmeant | None = connection.notes.get(self)
        if known is None or known.api != api or known.of is not connection.notes.get(self._key):
            return None  # the client was another one in between, and nobody looked at its sessions by these faults
        if not known.of.holds() or not known.are_all(frame):
            return None
        return known.ctx

    def passed(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """This one was read, and passes."""
        of = faults_of(ctx.connection, self._key, self._in_force)
        faults = of.of(ctx)
        try:
            if not faults:
                if ctx.api.request in TOPICS:  # of other APIs this is asked alone, and needs to be told but once
                    ctx.connection.notes[self] = Unmeant(ctx.as_sample(), of, bytes(frame[HEAD:body]))
                return Beginning(_end_of_acks(ctx, frame, body) if ctx.api is PRODUCE else body, of.holds)
            return self._learn(ctx, of, faults, frame, body) if ctx.api.request in TOPICS else None
        except BAD_BYTES:
            return None  # its broker will say what is wrong with it

    def _learn(
        self, ctx: Context, of: ConnectionFaults, faults: Iterable[NamedFault], frame: memoryview, body: int
    ) -> Beginning | None:
        request, version = ctx.api.request, ctx.version
        begins = _beginning(ctx, of, frame, body)
        if begins is None:
            return None
        topics = RequestTopics(request, version).find(frame, body)
        if topics is None or any(self._may_be_meant(topic, faults) for topic in topics):
            return None
        if not topics and begins.session is None:
            return None
        known: Unmeant | None = ctx.connection.notes.get(self)
        api = ctx.api.key << 16 | version
        if not isinstance(known, UnmeantTopics) or (known.of, known.api, known.begins) != (of, api, begins):
            known = ctx.connection.notes[self] = UnmeantTopics(ctx.as_sample(), of, begins)
        known.know(topics)
        if len(topics) != 1 or begins.session is not None:
            return None
        _, name = TOPICS[request]
        (_, end), *_ = spans_finder(request, version, name, "topic_id")(frame, body)
        return Beginning(end, of.holds)

    def _may_be_meant(self, topic: str | bytes, faults: Iterable[NamedFault]) -> bool:
        name = self._names.of(topic)
        return name is None or any(fault.match.topic is None or fault.match.holds("topic", name) for _, fault in faults)


def _end_of_acks(ctx: Context, frame: memoryview, body: int) -> int:
    return end_finder(ProduceRequest, ctx.version, "acks")(frame, body)


def _beginning(ctx: Context, of: ConnectionFaults, frame: memoryview, body: int) -> RequestBeginning | None:
    """How a request begins; None where it opens a fetch session, or no fault was ever looked for in the one it has."""
    request, version = ctx.api.request, ctx.version
    topics = start_finder(request, version, TOPICS[request][0])(frame, body)
    epochs = spans_finder(FetchRequest, version, "session_epoch")(frame, body)[:-1] if ctx.api is FETCH else ()
    for start, end in epochs:
        epoch = int.from_bytes(frame[start:end], signed=True)
        if epoch >= 0:
            goes_on = epoch > 0 and of.session.is_known
            return RequestBeginning(bytes(frame[HEAD:start]), bytes(frame[end:topics]), of.session) if goes_on else None
    return RequestBeginning(bytes(frame[HEAD:topics]))
