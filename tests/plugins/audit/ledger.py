"""A ledger of clients' real requests, kept by a relay between them and the proxy. It shares no code with the journal.

It keeps all frames and reads their heads: the API, the correlation id, the connection, and whether a response came.
Kafka's own classes read the rest (`tests/real/outcomes.py`). The relay's source port is the client's port in the
journal, so each event can be compared with one entry. Ports are reused, also at the same time towards another port of
the proxy. So a connection of the journal belongs to a page with its port that has all its requests, or most of them. Of
several it belongs to the one with the fewest others: the proxy may never have read those. The connections with the most
requests choose first.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.real.threaded_relay import Read, ThreadedRelay

HEAD = struct.Struct(">ihhi")  # size, api key, version, correlation id
NUMBER = struct.Struct(">ii")  # size, correlation id
LARGEST = 100 << 20  # bytes of a frame

Done = tuple[int, int, int, int]  # the client's port, api, version and correlation id
Event = dict[str, Any]
Told = dict[Done, list[Event]]  # the events of requests, in the order of the journal


@dataclass
class Entry:
    """One request. `answered`: its response passed the relay. The frames are empty until they have passed whole."""

    api: int
    version: int
    number: int
    answered: bool = False
    request: bytes = b""
    response: bytes = b""


@dataclass(eq=False)
class LedgerPage:
    """The requests and responses of one connection.

    `was_reset`: the client reset the connection; then responses that had left the proxy may be missing on the page.
    """

    entries: list[Entry] = field(default_factory=list)
    waiting: dict[int, list[Entry]] = field(default_factory=dict)
    was_reset: bool = False

    def asked(self, head: bytes) -> None:
        _, api, version, number = HEAD.unpack(head)
        entry = Entry(api, version, number)
        self.entries.append(entry)
        self.waiting.setdefault(number, []).append(entry)

    def sent(self, frame: bytes) -> None:
        self.entries[-1].request = frame

    def answered(self, frame: bytes) -> None:
        waiting = self.waiting.get(NUMBER.unpack_from(frame)[1])
        if waiting:
            entry = waiting.pop(0)
            entry.answered, entry.response = True, frame

    def reading(self, read: Read) -> Read:
        """The same reader, which also notes a reset by the client."""

        def noting(data: bytes) -> None:
            self.was_reset = self.was_reset or not data
            read(data)

        return noting

    def asked_for(self, port: int) -> Counter[Done]:
        """How often each request was sent from this port."""
        return Counter((port, entry.api, entry.version, entry.number) for entry in self.entries)


def ignore(data: bytes) -> None:
    """Do nothing with these bytes."""


class Frames:
    """Finds frames in a stream, however it is split. `begun` gets their heads, of `size` bytes; `ended` whole frames.

    Behind a size that no frame has, there are none.
    """

    def __init__(self, size: int, *, begun: Read = ignore, ended: Read = ignore) -> None:
        self._size, self._begun, self._ended = size, begun, ended
        self._frame = bytearray()
        self._is_over = False

    def read(self, data: bytes) -> None:
        while data and not self._is_over:
            had = len(self._frame)
            taken = data[: self._wanted() - had]
            self._frame += taken
            data = data[len(taken) :]
            if had < self._size <= len(self._frame):
                self._begun(bytes(self._frame))
                self._is_over = not self._size <= self._wanted() <= LARGEST
            if len(self._frame) == self._wanted() >= self._size:
                self._ended(bytes(self._frame))
                self._frame.clear()

    def _wanted(self) -> int:
        """The size of the frame, or of its head while that is not whole."""
        return 4 + int.from_bytes(self._frame[:4]) if len(self._frame) >= self._size else self._size


class LedgerRelay(ThreadedRelay):
    """Listens on `host`, and forwards to the same ports of `target`."""

    def __init__(self, host: str, target: str, ports: Iterable[int]) -> None:
        super().__init__(host, target, {port: port for port in ports})
        self.pages: defaultdict[int, list[LedgerPage]] = defaultdict(list)  # by the port that the proxy sees

    def readers(self, port: int) -> tuple[Read, Read]:
        page = LedgerPage()
        self.pages[port].append(page)
        asked = Frames(HEAD.size, begun=page.asked, ended=page.sent)
        answered = Frames(NUMBER.size, ended=page.answered)
        return page.reading(asked.read), page.reading(answered.read)


@dataclass
class Comparison:
    """The requests of a ledger and a journal; each is in `both`, or in only one of them.

    `pairs` are the answered ones that are in both, with their events. `holes` are answered requests of the ledger that
    the journal lacks, although it has a later one of the connection.
    """

    both: Counter[Done]
    only_ledger: list[Entry]
    only_journal: Counter[Done]
    other_outcome: list[tuple[Done, str]]
    holes: list[Entry]
    pairs: list[tuple[Entry, Event]] = field(default_factory=list)

    def hold(self, page: LedgerPage, port: int, told: Told) -> None:
        """Compare the journal's events of one connection with its page of the ledger."""
        lost: list[Entry] = []
        for entry in page.entries:
            done = port, entry.api, entry.version, entry.number
            if not told.get(done):
                self.only_ledger.append(entry)
                lost += [entry] if entry.answered else []
                continue
            self.holes += lost
            lost = []
            self.both[done] += 1
            event = told[done].pop(0)
            outcome = event["outcome"]
            if entry.answered:
                self.pairs.append((entry, event))
            is_unseen = page.was_reset and not entry.answered
            if (outcome == "answered") is not entry.answered and not is_unseen:
                self.other_outcome.append((done, outcome))
        self.only_journal.update({done: len(events) for done, events in told.items() if events})


def compare(pages: Mapping[int, Sequence[LedgerPage]], events: Iterable[Event], keys: dict[str, int]) -> Comparison:
    """Compare a journal's requests with a ledger, connection by connection. `keys`: the API keys by name."""
    connections: dict[tuple[Any, ...], Told] = {}
    for event in events:
        if event["kind"] == "request":
            port = event["client_port"]
            told = connections.setdefault((port, event["instance"], event["worker"], event["connection"]), {})
            done = port, keys[event["api"]], event["api_version"], event["correlation_id"]
            told.setdefault(done, []).append(event)
    came = Comparison(Counter(), [], Counter(), [], [])
    left = {port: list(there) for port, there in pages.items()}
    asked = {page: page.asked_for(port) for port, there in pages.items() for page in there}
    most_first = sorted(connections.items(), key=lambda it: -sum(map(len, it[1].values())))
    for (port, *_), told in most_first:
        numbers = Counter({done: len(events) for done, events in told.items()})
        page = min(
            left.get(port, ()),
            key=lambda it: ((numbers - asked[it]).total(), (asked[it] - numbers).total()),
            default=None,
        )
        if page is not None:
            left[port].remove(page)
        came.hold(page or LedgerPage(), port, told)
    for port, there in left.items():
        for page in there:
            came.hold(page, port, {})
    return came
