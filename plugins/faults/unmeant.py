"""Unmeant: samples of requests of one connection that no fault is about, so that later ones like them may pass.

Rules:
* Either only the API and the client matter, or the beginning of a request and its topics do.
* Requests of a fetch session differ only in their epoch. Where all other bytes are the same, no name is checked.
* A sample is valid as long as the faults and the client are the same (`ConnectionFaults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plugins.faults.connection_faults import ConnectionFaults, UnmeantSession
from proxy.plugin import FETCH, Context, FetchRequest
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, TOPICS, KnownTopics, rollcall, spans_finder, start_finder

HEAD = REQUEST_HEAD.size
MOST = 1_000  # topics that are known on one connection
EPOCH = 4  # bytes
OPENS = bytes(EPOCH)  # the epoch of a request that opens a session
NEGATIVE = b"\x80"  # the epoch of a request without a session begins with this byte or a higher one
LOOKED_AT = 64 << 10  # bytes that are checked; this takes up to 2 ms, if they are all names


class Unmeant:
    """A sample where no fault is about any request of this API by this client. `header` has the client id."""

    __slots__ = ("api", "ctx", "header", "of")

    def __init__(self, ctx: Context, of: ConnectionFaults, header: bytes) -> None:
        self.api = ctx.api.key << 16 | ctx.version
        self.ctx, self.of, self.header = ctx, of, header

    def are_all(self, frame: memoryview) -> bool:
        """Whether this request may pass."""
        return frame[HEAD : HEAD + len(self.header)].tobytes() == self.header


class RequestBeginning(NamedTuple):
    """The bytes between the head of a request and its topics. In a session, `start` ends before the epoch.

    `rest` are the bytes from the epoch, which is another one each time, to the topics.
    """

    start: bytes
    rest: bytes = b""
    session: UnmeantSession | None = None

    def as_in(self, frame: memoryview) -> bytes:
        """The beginning with the epoch of this request; b"", which matches none, if it continues no session."""
        if self.session is None:
            return self.start
        at = HEAD + len(self.start)
        epoch = bytes(frame[at : at + EPOCH])
        return self.start + epoch + self.rest if int.from_bytes(epoch, signed=True) > 0 else b""


class SameInSession:
    """A request of a fetch session that passes, as a sample for others that differ only in the epoch.

    `after`: the bytes after the epoch. `current` gives the present faults of the connection.
    """

    __slots__ = ("_after", "_current", "_of", "_session")

    def __init__(
        self, of: ConnectionFaults, session: UnmeantSession, after: bytes, current: Callable[[], object]
    ) -> None:
        self._of, self._session, self._after, self._current = of, session, after, current

    def goes_on(self, data: memoryview, start: int, stop: int) -> bool:
        """Whether a request is the same after its epoch, and neither the client nor its session has changed.

        The epoch begins at `start`. See `Beginning.rest`.
        """
        said = bytes(data[start:stop])  # converting slices to numbers would take three times as long
        is_same = said[EPOCH:] == self._after and OPENS < said[:EPOCH] < NEGATIVE
        return is_same and self._current() is self._of and self._session is self._of.session


class UnmeantTopics(Unmeant):
    """A sample with topics that no fault is about: requests that begin like it pass if they name no others."""

    __slots__ = ("_known", "_strangers", "begins")

    def __init__(self, ctx: Context, of: ConnectionFaults, begins: RequestBeginning) -> None:
        super().__init__(ctx, of, b"")  # `begins` has the header
        request = ctx.api.request
        array, name = TOPICS[request]
        self.begins = begins
        self._strangers = rollcall(request, ctx.version, name, "topic_id", begins_at=array, ends_at=array)
        self._known = KnownTopics(MOST)

    @property
    def held(self) -> int:
        """Bytes that the names take."""
        return self._known.held

    def let_go(self) -> None:
        """Forget the names; requests about them are read again."""
        self._known.clear()

    def know(self, topics: Iterable[str | bytes]) -> None:
        """Note topics, by name or id, that no fault is about."""
        for topic in topics:
            self._known.add(topic.encode() if isinstance(topic, str) else topic)

    def are_all(self, frame: memoryview) -> bool:
        """Whether a request begins like the sample and names no other topics."""
        begins, session = self.begins.as_in(frame), self.begins.session
        if not begins or (session is not None and session is not self.of.session):
            return False
        try:
            return self._strangers(frame[:LOOKED_AT], HEAD, begins, self._known.values) == []
        except BAD_BYTES:
            return False  # more bytes are to come, or the reader of the request will report the error


def beginning(ctx: Context, of: ConnectionFaults, frame: memoryview, body: int) -> RequestBeginning | None:
    """The beginning of a request; None where it opens a fetch session, or continues one that was not checked.

    A session that began outside the hours of a fault was not checked by that fault, so its requests are read.
    """
    request, version = ctx.api.request, ctx.version
    topics = start_finder(request, version, TOPICS[request][0])(frame, body)
    epochs = spans_finder(FetchRequest, version, "session_epoch")(frame, body)[:-1] if ctx.api is FETCH else ()
    for start, end in epochs:
        epoch = int.from_bytes(frame[start:end], signed=True)
        if epoch >= 0:
            goes_on = epoch > 0 and of.session.is_known(of.of(ctx))
            return RequestBeginning(bytes(frame[HEAD:start]), bytes(frame[end:topics]), of.session) if goes_on else None
    return RequestBeginning(bytes(frame[HEAD:topics]))
