"""Unmeant: what is known of requests of one connection that no fault is about, so that the next like them may pass.

# Either nothing but the API and the client matters, or how a request begins and which topics it names.
# Requests of a fetch session are the same but for their epoch. Where all of one is the same but for that, no name is
# looked at.
# It is believed as long as the faults and the client are the same (`ConnectionFaults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plugins.faults.connection_faults import ConnectionFaults, UnmeantSession
from proxy.plugin import FETCH, Context, FetchRequest
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, TOPICS, nobody, rollcall, spans_finder, start_finder

HEAD = REQUEST_HEAD.size
MOST = 1_000  # topics that are known on one connection
LONGEST_NAME = 249  # bytes of a name that is known: Kafka's longest
ENTRY = 100  # bytes that one takes, beside its name
EPOCH = 4  # bytes
OPENS = bytes(EPOCH)  # the epoch of a request that opens a session
NEGATIVE = b"\x80"  # what that of a request without a session begins with, or with a higher byte
LOOKED_AT = 64 << 10  # bytes; looking at all that fits in these takes up to 2 ms, where all is names


class Unmeant:
    """No fault is about any request of this API by this client. `header` says again who it is."""

    __slots__ = ("api", "ctx", "header", "of")

    def __init__(self, ctx: Context, of: ConnectionFaults, header: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx, self.of, self.header = ctx, of, header

    def are_all(self, frame: memoryview) -> bool:
        """May this request pass?"""
        return frame[HEAD : HEAD + len(self.header)].tobytes() == self.header


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


class SameInSession:
    """A request of a fetch session that passes, and so do those that are the same but for its epoch.

    `after` follows the epoch, `current` gives the faults of the connection as they are now.
    """

    __slots__ = ("_after", "_current", "_of", "_session")

    def __init__(
        self, of: ConnectionFaults, session: UnmeantSession, after: bytes, current: Callable[[], object]
    ) -> None:
        self._of, self._session, self._after, self._current = of, session, after, current

    def goes_on(self, rest: memoryview) -> bool:
        """Is this, from the epoch on, the same? The sessions of who was the client in between were not seen."""
        said = bytes(rest)  # numbers made of slices would take three times as long
        is_same = said[EPOCH:] == self._after and OPENS < said[:EPOCH] < NEGATIVE
        return is_same and self._current() is self._of and self._session is self._of.session


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


def beginning(ctx: Context, of: ConnectionFaults, frame: memoryview, body: int) -> RequestBeginning | None:
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
