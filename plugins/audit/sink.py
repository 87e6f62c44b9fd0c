"""The sink: sends the journal's lines to an audit topic too.

Rules:
* The journal comes first: a line is offered when it is on disk, byte for byte. So the topic has the same redactions
  as the journal.
* Neither clients nor the journal wait for the topic. Lines wait for it in memory, up to `ROOM` bytes. Lines that find
  no room, or that the topic refuses for good, are missing on the topic alone. They are counted, and the journal (and
  the topic, as soon as it is written again) has an `events_unsent` with their number.
* A record that is not known to have arrived is sent again, so the topic may have it twice, with the same id. The order
  is kept. When the proxy stops, the batch under way is finished first, and the rest is sent then.
* A problem gives one line in the log when it begins, another when its cause changes, and one when it is over.
* The writer of the journal calls `offer` and `unsent`; a thread of its own calls `work`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from math import inf

from plugins.audit.cloudevents import chain_key, record, source
from plugins.audit.lines import timestamp
from plugins.audit.queue import QueuedEvent
from plugins.audit.topic import AuditTopic
from proxy.plugin import Count, LineWriter, PluginClock, Record, Services, TopicError, TopicWriter, give_way

ROOM = 16 << 20  # bytes of lines
BATCH = 512 << 10  # bytes of records in one batch, unless a single one is larger
AGAIN = 1.0  # seconds until a topic that refused is tried again
WITHIN = 30.0  # seconds for one batch
SAID_EVERY = 60.0  # seconds between two `events_unsent`, which may be missing on the topic themselves
BREATH = 32  # records made at once, before the relay's thread gets the interpreter


class TopicSink:
    """Sends one chain's lines to a topic. `key` and `source` are those of its records."""

    def __init__(
        self,
        writer: TopicWriter,
        key: bytes,
        source: str,
        tell: LineWriter,
        unsent: Count,
        clock: PluginClock,
        room: int = ROOM,
    ) -> None:
        self._writer = writer
        self._key = key
        self._source = source
        self._tell = tell
        self._count = unsent
        self._clock = clock
        self._room = room
        self._lines: deque[bytes] = deque()
        self._came = 0  # bytes of all lines offered; written by the thread that offers
        self._went = 0  # bytes of all lines taken to be sent; written by the thread that sends
        self._batch: list[Record] = []  # being sent
        self._lock = threading.Lock()  # for the next four
        self._missing = 0  # events that are not on the topic, and not in an `events_unsent` yet
        self._since = self._until = 0.0  # when the first and the last of them were given up
        self._said = -inf  # when the last `events_unsent` was made
        self._why: str | None = None  # what is wrong with the topic now
        self._tried: float | None = None

    def offer(self, lines: Sequence[bytes]) -> None:
        """Take lines that are on disk."""
        for number, line in enumerate(lines):
            if self._came - self._went + len(line) > self._room and self._lines:
                self._give_up(len(lines) - number)
                return
            self._came += len(line)
            self._lines.append(line)

    def unsent(self, now: float) -> Iterator[QueuedEvent]:
        """The event for the journal on events that the topic lacks. `now` is infinite when the journal ends."""
        with self._lock:
            is_due = now >= self._said + SAID_EVERY and (self._why is None or now >= self._since + SAID_EVERY)
            if self._missing and is_due:
                since, until = timestamp(self._since), timestamp(self._until)
                fields = {"lost": self._missing, "lost_from": since, "lost_to": until}
                self._missing, self._said = 0, now
                yield QueuedEvent("events_unsent", self._until, None, fields)

    def work(self) -> None:
        """Send the waiting lines, unless the topic refused just now."""
        if self._tried is None or self._clock.read() - self._tried >= AGAIN:
            self._send()

    def close(self) -> None:
        """Send the lines that are left, within the time of a plugin that stops."""
        self._send()
        left = len(self._batch) + len(self._lines)
        if left:
            self._count.add(left)
            self._tell("audit events not sent at the end", level="error", events=left, why=self._why)

    def _send(self) -> None:
        while self._batch or self._lines:
            if not self._batch:
                self._fill()
            try:
                self._write(self._batch)
            except TopicError as error:
                self._refused(str(error))
                return
            if self._why is not None:
                self._why = self._tried = None
                self._tell("audit topic is written again")

    def _fill(self) -> None:
        size = 0
        while self._lines and (not size or size + len(self._lines[0]) < BATCH):
            line = self._lines.popleft()
            size += len(line)
            self._batch.append(record(line, self._key, self._source))
            if len(self._batch) % BREATH == 0:
                give_way()
        self._went += size

    def _write(self, batch: list[Record]) -> None:
        """Send these records, the first of the batch; in halves if the topic refuses them together. Raises TopicError.

        Records that were sent or given up leave the batch.
        """
        try:
            self._writer.write(batch, WITHIN)
        except TopicError as error:
            if not (error.is_too_large or error.is_invalid):
                raise
            if len(batch) > 1:
                half = len(batch) // 2
                for part in (batch[:half], batch[half:]):
                    self._write(part)
                return
            self._give_up(1)
            size = len(batch[0].value or b"")
            what = "audit event too long for the topic" if error.is_too_large else "audit event refused by the topic"
            self._tell(what, level="error", bytes=size, why=str(error))
        del self._batch[: len(batch)]

    def _refused(self, why: str) -> None:
        self._tried = self._clock.read()
        if why != self._why:
            self._tell("audit topic cannot be written", level="error", why=why)
        self._why = why

    def _give_up(self, lines: int) -> None:
        now = self._clock.wall()
        with self._lock:
            self._count.add(lines)
            if not self._missing:
                self._since = now
            self._missing += lines
            self._until = now


def topic_sink(topic: AuditTopic | None, services: Services, instance: str) -> TopicSink | None:
    """The sink for the chain of this instance, if a topic is named."""
    if topic is None:
        return None
    unsent = services.counter("unsent_events", "Events in the journal that the audit topic could not take.")
    writer, key = services.topic(topic.name, topic.cluster), chain_key(instance, services.worker)
    return TopicSink(writer, key, source(services.cluster), services.tell, unsent, services.clock)
