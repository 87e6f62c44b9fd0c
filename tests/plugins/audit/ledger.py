"""A ledger of clients' real requests, kept by a relay between them and the proxy. It shares no code with the journal.

It reads the heads of frames: the API, the correlation id, the connection, and whether a response came. The relay's
source port is the client's port in the journal, so each event can be compared with one entry. Ports are reused, also
at the same time towards another port of the proxy. So a connection of the journal belongs to the page with its port
that differs from it in the fewest requests.
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

Done = tuple[int, int, int, int]  # the client's port, api, version and correlation id
Told = dict[Done, list[str]]  # the outcomes of requests, in the order of the journal


@dataclass
class Entry:
    """One request. `answered`: its response passed the relay."""

    api: int
    version: int
    number: int
    answered: bool = False


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

    def answered(self, head: bytes) -> None:
        waiting = self.waiting.get(NUMBER.unpack(head)[1])
        if waiting:
            waiting.pop(0).answered = True

    def reading(self, read: Read) -> Read:
        """The same reader, which also notes a reset by the client."""

        def noting(data: bytes) -> None:
            self.was_reset = self.was_reset or not data
            read(data)

        return noting

    def asked_for(self, port: int) -> Counter[Done]:
        """How often each request was sent from this port."""
        return Counter((port, entry.api, entry.version, entry.number) for entry in self.entries)


class FrameHeads:
    """Finds the heads of frames in a stream, however it is split. `whole`: a frame counts once all of it has passed."""

    def __init__(self, size: int, tell: Any, *, whole: bool) -> None:
        self._size, self._tell, self._whole = size, tell, whole
        self._head = b""
        self._left = 0

    def read(self, data: bytes) -> None:
        while data:
            if self._left:
                taken = min(self._left, len(data))
                self._left, data = self._left - taken, data[taken:]
            else:
                missing = self._size - len(self._head)
                self._head, data = self._head + data[:missing], data[missing:]
                if len(self._head) < self._size:
                    return
                self._left = 4 + int.from_bytes(self._head[:4]) - self._size
                if not self._whole:
                    self._tell(self._head)
            if not self._left and len(self._head) == self._size:
                if self._whole:
                    self._tell(self._head)
                self._head = b""
            elif not self._whole and len(self._head) == self._size:
                self._head = b""


class LedgerRelay(ThreadedRelay):
    """Listens on `host`, and forwards to the same ports of `target`."""

    def __init__(self, host: str, target: str, ports: Iterable[int]) -> None:
        super().__init__(host, target, {port: port for port in ports})
        self.pages: defaultdict[int, list[LedgerPage]] = defaultdict(list)  # by the port that the proxy sees

    def readers(self, port: int) -> tuple[Read, Read]:
        page = LedgerPage()
        self.pages[port].append(page)
        asked, answered = FrameHeads(12, page.asked, whole=False), FrameHeads(8, page.answered, whole=True)
        return page.reading(asked.read), page.reading(answered.read)


@dataclass
class Comparison:
    """The requests of a ledger and a journal; each is in `both`, or in only one of them.

    `holes` are answered requests of the ledger that the journal lacks, although it has a later one of the connection.
    """

    both: Counter[Done]
    only_ledger: list[Entry]
    only_journal: Counter[Done]
    other_outcome: list[tuple[Done, str]]
    holes: list[Entry]

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
            outcome = told[done].pop(0)
            is_unseen = page.was_reset and not entry.answered
            if (outcome == "answered") is not entry.answered and not is_unseen:
                self.other_outcome.append((done, outcome))
        self.only_journal.update({done: len(outcomes) for done, outcomes in told.items() if outcomes})


def compare(
    pages: Mapping[int, Sequence[LedgerPage]], events: Iterable[dict[str, Any]], keys: dict[str, int]
) -> Comparison:
    """Compare a journal's requests with a ledger, connection by connection. `keys`: the API keys by name."""
    connections: dict[tuple[Any, ...], Told] = {}
    for event in events:
        if event["kind"] == "request":
            port = event["client_port"]
            told = connections.setdefault((port, event["instance"], event["worker"], event["connection"]), {})
            done = port, keys[event["api"]], event["api_version"], event["correlation_id"]
            told.setdefault(done, []).append(event["outcome"])
    came = Comparison(Counter(), [], Counter(), [], [])
    left = {port: list(there) for port, there in pages.items()}
    asked = {page: page.asked_for(port) for port, there in pages.items() for page in there}
    for (port, *_), told in connections.items():
        numbers = Counter({done: len(outcomes) for done, outcomes in told.items()})
        # The page with the fewest differences, counting requests of either side alone.
        page = min(
            left.get(port, ()), key=lambda it: (asked[it] - numbers + (numbers - asked[it])).total(), default=None
        )
        if page is not None:
            left[port].remove(page)
        came.hold(page or LedgerPage(), port, told)
    for port, there in left.items():
        for page in there:
            came.hold(page, port, {})
    return came
