"""Notes: the entries that clients of a test put into its history, each with its moment."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, NamedTuple

Isolation = Literal["read_committed", "read_uncommitted"]


def shown(value: object) -> str:
    """A value in a line for people."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class Where(NamedTuple):
    """The place of a record."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} offset {self.offset}"


class NotedSend:
    """A record that a client gave to its producer, and the result."""

    __slots__ = ("client", "failure", "key", "moment", "partition", "place", "told", "topic", "transaction", "value")

    def __init__(
        self,
        client: ClientHistory,
        topic: str,
        value: Hashable,
        transaction: NotedTransaction | None = None,
        key: Hashable = None,
    ) -> None:
        self.client, self.topic, self.value, self.transaction, self.key = client, topic, value, transaction, key
        self.moment = client.tick()
        self.told: int | None = None  # the moment of the result
        self.partition: int | None = None  # of an acknowledged record
        self.place: Where | None = None  # of an acknowledged record, if the offset is known
        self.failure: str | None = None

    def acknowledged(self, partition: int, offset: int | None) -> None:
        """The broker acknowledged the record. Do not note it without an acknowledgement (acks=0).

        `offset`: None or below 0 if the client does not know it. When a broker gets a batch again that it has already,
        its answer may lack the offset (DUPLICATE_SEQUENCE_NUMBER).
        """
        self.partition, self.told = partition, self.client.tick()
        if offset is not None and offset >= 0:
            self.place = Where(self.topic, partition, offset)

    def failed(self, error: object = "it failed") -> None:
        """The record is certainly not written. After a timeout that is not certain: note nothing then."""
        self.failure, self.told = str(error), self.client.tick()

    def __str__(self) -> str:
        return f"#{self.moment} {self.client.name} sent {shown(self.value)} to {self.topic}"

    @property
    def outcome(self) -> str:
        """The result, as a line."""
        what = f"that it failed: {self.failure}" if self.partition is None else self.place or self.unplaced
        return f"#{self.told} {self.client.name} was told {what}"

    @property
    def unplaced(self) -> str:
        """The place of an acknowledged record without an offset."""
        return f"{self.topic}-{self.partition}, no offset, for {shown(self.value)}"


class NotedTransaction:
    """A transaction of a producer. Without `committed` or `aborted`, its result is not known."""

    __slots__ = ("aborted_at", "client", "committed_at", "committing")

    def __init__(self, client: ClientHistory) -> None:
        self.client = client
        self.committing: int | None = None
        self.committed_at: int | None = None
        self.aborted_at: int | None = None

    def send(self, topic: str, value: Hashable, *, key: Hashable = None) -> NotedSend:
        """As `ClientHistory.send`, in this transaction."""
        return self.client.send(topic, value, self, key=key)

    def commits(self) -> None:
        """Note this before the producer is asked to commit."""
        self.committing = self.client.tick()

    def committed(self) -> None:
        """The commit succeeded."""
        if self.committing is None:
            raise ValueError("note commits() before the producer is asked to commit, and committed() after it")
        self.committed_at = self.client.tick()

    def aborted(self) -> None:
        """It was aborted, or fenced before the commit: its records must never be read."""
        self.aborted_at = self.client.tick()

    def __str__(self) -> str:
        if self.aborted_at is not None:
            return f"#{self.aborted_at} {self.client.name} aborted its transaction"
        if self.committing is not None:
            return f"#{self.committing} {self.client.name} began to commit its transaction"
        return f"{self.client.name} never began to commit its transaction"


class NotedRead(NamedTuple):
    """A record that a client read."""

    moment: int
    client: ClientHistory
    place: Where
    value: Hashable

    def __str__(self) -> str:
        return f"#{self.moment} {self.client.name} read {shown(self.value)} at {self.place}"


class NotedPosition(NamedTuple):
    """From this moment on the client reads this partition from this place."""

    moment: int
    place: Where


class NotedCommit(NamedTuple):
    """A committed offset: the place from which the group reads on after its members are gone."""

    moment: int
    client: ClientHistory
    group: str
    place: Where
    transaction: NotedTransaction | None

    def __str__(self) -> str:
        return f"#{self.moment} {self.client.name} committed {self.place} for group {self.group}"


class ClientHistory:
    """The notes of one client. `group`: its consumer group."""

    def __init__(self, tick: Callable[[], int], name: str, group: str | None, isolation: Isolation) -> None:
        self.tick, self.name, self.group, self.isolation = tick, name, group, isolation
        self.sends: list[NotedSend] = []
        self.reads: list[NotedRead | NotedPosition] = []
        self.commits: list[NotedCommit] = []

    def send(
        self, topic: str, value: Hashable, transaction: NotedTransaction | None = None, *, key: Hashable = None
    ) -> NotedSend:
        """Note this before the record is given to the producer. `key`: of the record, in a compacted topic."""
        send = NotedSend(self, topic, value, transaction, key)
        self.sends.append(send)
        return send

    def begin(self) -> NotedTransaction:
        """Note the beginning of a transaction."""
        return NotedTransaction(self)

    def reads_from(self, topic: str, partition: int, offset: int) -> None:
        """Its next reads of this partition begin at this offset: after an assignment or a seek."""
        self.reads.append(NotedPosition(self.tick(), Where(topic, partition, offset)))

    def read(self, topic: str, partition: int, offset: int, value: Hashable) -> None:
        """Note a record that it read."""
        self.reads.append(NotedRead(self.tick(), self, Where(topic, partition, offset), value))

    def commit(self, topic: str, partition: int, offset: int, transaction: NotedTransaction | None = None) -> None:
        """Note a committed offset of its group. `transaction`: the offset counts once that is committed."""
        if self.group is None:
            raise ValueError(f'"{self.name}" commits offsets and has no group; say history.client(..., group=...)')
        place = Where(topic, partition, offset)
        self.commits.append(NotedCommit(self.tick(), self, self.group, place, transaction))
