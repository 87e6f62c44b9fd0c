"""Request heads: the bytes before the body of a request, and how passing requests begin.

Rules:
* A client sends the same header each time: comparing takes 0.2 us, reading it 2. A producer begins all its requests
  alike up to their acks: recognizing them takes 0.3 us, reading them 1.2.
* The header of the last request is remembered; a request with another header is read anew.
* A request with another client id than those in flight waits for their answers (`is_of_another`), as it would at a
  broker: what a connection says of its client is true of all its requests.
* Connections whose producers begin alike share what is remembered of that: with 500 connections, what each has of its
  own is slow to load.
* How passing requests begin is remembered for a few APIs, for each only the last beginning, and only if nobody observes
  them. Those that are certain to pass (`Certain`) are looked for first. All is forgotten when another configuration,
  state or file is in force, or when the client authenticates again or changes its client id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct

from proxy.core.context import Connection, Context
from proxy.core.fast_path import AskRest, Beginning, Certain
from proxy.core.filter_chain import FilterChain
from proxy.core.request_topics import Topics
from proxy.core.turn import Turn
from proxy.protocol.fixed_bytes import fixed_bytes
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.header import RequestHeader, read_request_header, request_body_offset

HEAD = REQUEST_HEAD.size
MOST = 8  # APIs, each in one version, for which a beginning is remembered
LONGEST = 4 << 10  # bytes of a beginning that is remembered
SHORT = 1 << 10  # bytes that need not be counted
COPIES = 2  # of a beginning: a fast path keeps one too
CERTAIN = 1 << 10  # bytes of a beginning with which requests are certain to pass: its parts are objects of their own
ANY = 1 << 31  # bytes; no request is longer
READ = 2  # us to read a header; a byte of tagged fields takes 1 more
NAME = 2  # bytes before a client id


@dataclass(slots=True, eq=False)
class KnownBeginning:
    """How requests begin that pass: with `begun`, which `layout` takes out behind their heads.

    `least` and `most`: their lengths in bytes, without the size. `rest` is asked about the frame from `end` on, if need
    be only about a `whole` one; if it is None, `holds` is asked. `sample`: that of their slots; None: no handler wants
    them. `body`: where their bodies begin. `topics`: those of all of them, if they have the same.

    It does not know its chain, which may keep it.
    """

    layout: Struct
    begun: tuple[bytes, ...]
    least: int
    most: int
    end: int
    whole: bool
    rest: AskRest | None
    holds: Callable[[], bool]
    sample: Context | None
    body: int
    topics: Topics | None


class RequestHeads:
    """The request heads of one connection. They tell its client id."""

    __slots__ = ("_connection", "_turn", "header", "passing", "version")

    def __init__(self, connection: Connection, turn: Turn) -> None:
        self._connection = connection
        self._turn = turn
        self.header = b""  # the rest of the last request's header, behind its head; `version` is that header's
        self.version = -1
        self.passing: dict[int, tuple[KnownBeginning, ...]] = {}  # by API and version; the longest beginning first

    @property
    def held(self) -> int:
        """Bytes that a long header and long beginnings take: a client id may be long."""
        size = len(self.header)
        for known in self.passing.values():
            size += COPIES * known[-1].end
        return size if size > SHORT else 0

    def body(self, chain: FilterChain, frame: memoryview) -> int | None:
        """Where the body begins in the request of which `frame` is the beginning; None: more bytes are needed."""
        body = HEAD + len(self.header)
        if self.version == chain.header_version and frame[HEAD:body].tobytes() == self.header:
            return body
        found = request_body_offset(chain.api, chain.version, frame, SIZE.size)
        if found is None:
            return None
        header = self._read(frame, found)
        if header.client_id != self._connection.client_id:
            self._connection.client_id = header.client_id
            self.passing.clear()
        self.header, self.version = bytes(frame[HEAD:found]), chain.header_version
        return found

    def is_of_another(self, chain: FilterChain, frame: memoryview) -> bool:
        """Has the request of which `frame` is the beginning another client id, as far as it came?"""
        if self.version < 0:
            return False  # nobody was shown a request
        body = HEAD + len(self.header)
        if self.version == chain.header_version and frame[HEAD:body].tobytes() == self.header:
            return False
        found = request_body_offset(chain.api, chain.version, frame, SIZE.size)
        if found is None:
            came = frame[HEAD:body].tobytes()
            return came != self.header[: len(came)]  # the client id stands first
        if self._read(frame, found).client_id != self._connection.client_id:
            return True
        self.header, self.version = bytes(frame[HEAD:found]), chain.header_version
        return False

    def _read(self, frame: memoryview, end: int) -> RequestHeader:
        """The header of this request, which ends at `end`. That counts as work."""
        header, _ = read_request_header(bytes(frame[SIZE.size : end]))
        self._turn.count(READ + end - HEAD - NAME - len(header.client_id or ""))
        return header

    def renews(self, chain: FilterChain, frame: memoryview) -> bool:
        """Has this request another header than the last request? Then its header is remembered."""
        before = self.header
        return self.body(chain, frame) is not None and self.header is not before

    def acks(self, chain: FilterChain, frame: memoryview) -> int | None:
        """The acks of the Produce request of which `frame` is the beginning; None: more bytes are needed."""
        body = self.body(chain, frame)
        return None if body is None else chain.acks(frame, body)

    def remember_acks(self, chain: FilterChain, frame: memoryview) -> None:
        """Let requests pass that begin like this one, whose acks were read and which no plugin sees."""
        body = HEAD + len(self.header)
        end = chain.acks_end(frame, body)
        if end > LONGEST:
            return
        known: tuple[KnownBeginning, ...] | None = chain.begins
        if known is None or known[0].end != end or known[0].layout.unpack_from(frame, HEAD) != known[0].begun:
            known = chain.begins = (self._known(chain, frame, body, Beginning(end), Certain(end), None),)
        self._keep(chain, known)

    def remember(self, chain: FilterChain, frame: memoryview, body: int, begins: Beginning) -> None:
        """Let requests pass that begin like this one."""
        if begins.end > LONGEST:
            return
        certain, shown = begins.certain, chain.shown
        known = [self._known(chain, frame, body, begins, Certain(begins.end), None)]
        if certain is not None and certain.end <= CERTAIN:
            topics = None if shown is None or shown.topics is None else shown.topics.find(frame, body)
            if shown is None or topics is not None:
                known.insert(0, self._known(chain, frame, body, begins._replace(rest=certain.rest), certain, topics))
        self._keep(chain, tuple(known))

    def _keep(self, chain: FilterChain, known: tuple[KnownBeginning, ...]) -> None:
        if chain.key not in self.passing and len(self.passing) == MOST:
            self.passing.clear()
        self.passing[chain.key] = known

    def _known(
        self,
        chain: FilterChain,
        frame: memoryview,
        body: int,
        begins: Beginning,
        same: Certain,
        topics: Topics | None,
    ) -> KnownBeginning:
        """What is remembered of requests that are the `same` as this one."""
        end = same.end
        layout = fixed_bytes(HEAD, end, same.varying)
        least, most = end - SIZE.size, end - SIZE.size if same.exact else ANY
        facts = begins.whole, begins.rest, same.holds, begins.sample, body, topics
        return KnownBeginning(layout, layout.unpack_from(frame, HEAD), least, most, begins.end, *facts)
