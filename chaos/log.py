"""The log as a history shows it: who sent each value, what was read at each place, and each client's passes.

Rules:
* The place of a value is where it was read; for a value that no client read, the place that its sender was told.
* A pass is a sequence of reads of one partition by one client, without a seek or a rebalance in between. It begins at
  offset 0, unless its first offset was noted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from chaos.compaction import superseded
from chaos.notes import ClientHistory, Isolation, NotedRead, NotedSend, NotedTransaction, Where

Partition = tuple[str, int]


class Pass(NamedTuple):
    """The reads of a client in a partition, in order. It began at the moment `begun`, at the offset `start`."""

    client: ClientHistory
    partition: Partition
    begun: int
    start: int
    reads: list[NotedRead]


class ObservedLog:
    """The content of the log as far as the notes of these clients show it."""

    def __init__(self, clients: Sequence[ClientHistory], compacted: Collection[str] = ()) -> None:
        self.clients = clients
        self.sends: dict[tuple[str, Hashable], list[NotedSend]] = {}
        for client in clients:
            for send in client.sends:
                self.sends.setdefault((send.topic, send.value), []).append(send)
        self.topics = {topic for topic, _ in self.sends}
        self.passes = [one for client in clients for one in _passes(client)]
        self.reads: dict[Where, NotedRead] = {}  # the first read of each place
        self.found: dict[tuple[str, Hashable], NotedRead] = {}  # the first read of each value that was not aborted
        self.found_committed: dict[tuple[str, Hashable], NotedRead] = {}  # the first by a read_committed client
        self.proven: set[NotedTransaction] = set()  # committed, since a read_committed client read a record of it
        self.struck: set[Where] = set()  # records that must not be read: a client that went past them skipped nothing
        for read in self.all_reads():
            self.reads.setdefault(read.place, read)
            key, transaction = (read.place.topic, read.value), None
            if (sender := self.sender(read)) is not None:
                transaction = sender.transaction
            if read.client.isolation == "read_committed":
                self.found_committed.setdefault(key, read)
                if transaction is not None:
                    self.proven.add(transaction)
            elif transaction is not None and transaction.aborted_at is not None:
                continue  # the value may be sent again, in another transaction
            self.found.setdefault(key, read)
        self.reach = Reach(self.passes)
        sends = (send for client in clients for send in client.sends)
        self.superseded = superseded(sends, compacted, self.place_of)
        self.gone = {place for send in self.superseded if (place := self.place_of(send)) is not None}  # maybe

    def all_reads(self) -> Iterator[NotedRead]:
        """All reads of all clients."""
        return (read for one in self.passes for read in one.reads)

    def place_of(self, send: NotedSend) -> Where | None:
        """Where a send was written, as far as it is known."""
        found = self.found.get((send.topic, send.value))
        return send.place or (found.place if found is not None else None)

    def sender(self, read: NotedRead) -> NotedSend | None:
        """The attempt that wrote the record of a read, if only one can have."""
        attempts = self.sends.get((read.place.topic, read.value), ())
        told = [send for send in attempts if send.place == read.place] if len(attempts) > 1 else attempts
        return told[0] if len(told) == 1 else None

    def is_kept(self, send: NotedSend) -> bool:
        """Whether every reader must get the record: it is acknowledged, and committed if it is in a transaction."""
        return send.partition is not None and send.failure is None and self.is_committed(send)

    def is_committed(self, send: NotedSend) -> bool:
        """Whether its transaction certainly committed, or it has none."""
        transaction = send.transaction
        if transaction is None:
            return True
        if transaction.aborted_at is not None:
            return False
        return transaction.committed_at is not None or transaction in self.proven

    def readable(self, isolation: Isolation) -> dict[Partition, list[int]]:
        """The offsets that were read and that every client of this isolation level must read."""
        return self._readable_if_committed if isolation == "read_committed" else self._readable

    @cached_property
    def _readable(self) -> dict[Partition, list[int]]:
        return _sorted(self.reads.keys() - self.struck)

    @cached_property
    def _readable_if_committed(self) -> dict[Partition, list[int]]:
        if all(client.isolation == "read_committed" for client in self.clients):
            return self._readable
        committed = {
            read.place
            for read in self.all_reads()
            if read.client.isolation == "read_committed"
            or ((sender := self.sender(read)) is not None and self.is_committed(sender))
        }
        return _sorted(committed - self.struck)


class Reach:
    """How far passes went: the places that a client went past, whether it read them or not."""

    def __init__(self, passes: Iterable[Pass]) -> None:
        spans: dict[Partition, list[tuple[int, int, NotedRead]]] = defaultdict(list)
        for one in passes:
            if one.reads:
                furthest = max(one.reads, key=_offset)
                spans[one.partition].append((one.start, furthest.place.offset, furthest))
        # For each partition, the starts of all passes in order, and the furthest read of the passes up to each of them.
        self._ends: dict[Partition, tuple[list[int], list[NotedRead]]] = {}
        for partition, each in spans.items():
            each.sort(key=lambda span: span[:2])
            self._ends[partition] = [start for start, _, _ in each], list(accumulate((it[2] for it in each), _further))

    def beyond(self, place: Where) -> NotedRead | None:
        """A read that shows that a client went from before this place to beyond it."""
        starts, furthest = self._ends.get(place[:2], ([], []))
        before = bisect_right(starts, place.offset)
        return furthest[before - 1] if before and furthest[before - 1].place.offset > place.offset else None


def _offset(read: NotedRead) -> int:
    return read.place.offset


def _further(one: NotedRead, other: NotedRead) -> NotedRead:
    return max(one, other, key=_offset)


def _passes(client: ClientHistory) -> list[Pass]:
    found: list[Pass] = []
    under_way: dict[Partition, Pass] = {}
    for note in client.reads:
        partition = note.place[:2]
        if not isinstance(note, NotedRead) or partition not in under_way:
            start = 0 if isinstance(note, NotedRead) else note.place.offset
            under_way[partition] = Pass(client, partition, note.moment, start, [])
            found.append(under_way[partition])
        if isinstance(note, NotedRead):
            under_way[partition].reads.append(note)
    return found


def _sorted(places: set[Where]) -> dict[Partition, list[int]]:
    offsets: dict[Partition, list[int]] = defaultdict(list)
    for topic, partition, offset in places:
        offsets[topic, partition].append(offset)
    for each in offsets.values():
        each.sort()
    return offsets
