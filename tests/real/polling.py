"""Consumers that poll without a pause, and note when each record arrives.

`Polling` sends Fetch itself, in a chosen version: with sessions or without, by names or by ids. So it knows when bytes
arrive, and its requests wait at the broker as long polls. `Librdkafka` is a consumer as applications use it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from proxy.net.channel import exactly
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.records.batch import RecordBatch, batches
from proxy.protocol.schema import Request, Response

WAIT = 400  # milliseconds that a broker keeps a request without enough records (fetch.max.wait.ms)
LEAST = 600  # bytes for which a broker answers earlier (fetch.min.bytes)
PAUSE = 0.05  # seconds to wait after a response without records
SESSIONS, IDS = 7, 13  # the first versions of Fetch that have these
R = TypeVar("R", bound=Response)


class Arrival(NamedTuple):
    """Records of one topic from offset `first` to `last`, and the time of their arrival (time.monotonic())."""

    topic: str
    first: int
    last: int
    at: float


class Consumer:
    """Polls each topic from its beginning until `stop`. `read` has the next offset of each topic."""

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = tuple(topics)
        self.arrivals: list[Arrival] = []
        self.refused = 0  # how often a topic was refused
        self.read = dict.fromkeys(topics, 0)
        self.failed: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to poll."""
        self._thread.start()

    def _run(self) -> None:
        try:
            self.poll_until(self._over)
        except Exception as error:
            self.failed = error

    def poll_until(self, over: threading.Event) -> None:
        raise NotImplementedError

    def arrived(self, topic: str, first: int, last: int) -> None:
        """Note records that arrived. A gap or a duplicate is an error."""
        self.arrivals.append(Arrival(topic, first, last, time.monotonic()))
        assert first == self.read[topic], f"{self}: {topic} went on at {first} after {self.read[topic]}"
        self.read[topic] = last + 1

    def stop(self) -> None:
        """Stop polling. Raises the error that ended the polling, if any."""
        self._over.set()
        self._thread.join()
        if self.failed is not None:
            raise self.failed


class Polling(Consumer):
    """A consumer that sends Fetch in one version, on one connection."""

    def __init__(self, host: str, port: int, version: int, topics: Sequence[str]) -> None:
        super().__init__(topics)
        self._address = host, port
        self._version = version
        self._session, self._epoch = 0, 0
        self._ids: Mapping[str, bytes] = {}
        self._names: Mapping[bytes, str] = {}

    def __str__(self) -> str:
        return f"Fetch v{self._version}"

    def poll_until(self, over: threading.Event) -> None:
        """Fetch in a loop; in a session, a request has only the partitions that changed."""
        with socket.create_connection(self._address, timeout=30) as connection:
            if self._version >= IDS:
                self._learn(self._ask(connection, MetadataRequest(topics=None), 12, MetadataResponse))
            changed = list(self.topics)
            while not over.is_set():
                if self._version < SESSIONS:
                    changed = list(self.topics)
                answer = self._ask(connection, self._request(changed), self._version, FetchResponse)
                changed = self._take(answer)
                if not changed and self.refused:
                    over.wait(PAUSE)

    def _learn(self, known: MetadataResponse) -> None:
        self._names = {bytes(topic.topic_id): str(topic.name) for topic in known.topics}
        self._ids = {name: id_ for id_, name in self._names.items()}

    def _request(self, topics: Sequence[str]) -> FetchRequest:
        return FetchRequest(
            max_wait_ms=WAIT,
            min_bytes=LEAST,
            max_bytes=1 << 20,
            isolation_level=0,
            session_id=self._session,
            session_epoch=self._epoch if self._version >= SESSIONS else -1,
            topics=[self._topic(name) for name in topics],
            forgotten_topics_data=[],
            rack_id="",
        )

    def _topic(self, name: str) -> FetchRequest.Topic:
        partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=self.read[name], partition_max_bytes=1 << 20)
        if self._version >= IDS:
            return FetchRequest.Topic(topic_id=self._ids[name], partitions=[partition])
        return FetchRequest.Topic(topic=name, partitions=[partition])

    def _take(self, answer: FetchResponse) -> list[str]:
        """Note the records of a response, and give their topics."""
        if answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            # As every client does: begin a new session (KIP-227).
            self._session, self._epoch = 0, 0
            return list(self.topics)
        assert answer.error_code == 0, f"{self}: {ErrorCode(answer.error_code).name}"
        if self._version >= SESSIONS:
            self._session, self._epoch = answer.session_id, self._epoch + 1
            assert self._session, "the broker has room for sessions"
        came = []
        for topic in answer.responses:
            name = self._names[bytes(topic.topic_id)] if self._version >= IDS else str(topic.topic)
            for partition in topic.partitions:
                if partition.error_code:
                    assert partition.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED, (self, name, partition)
                    assert not partition.records, "a refusal has no records"
                    self.refused += 1
                for batch in batches(partition.records or b"", partial=True):
                    assert isinstance(batch, RecordBatch)
                    self.arrived(name, batch.base_offset, batch.last_offset)
                    came.append(name)
        return list(dict.fromkeys(came))

    def _ask(self, connection: socket.socket, request: Request, version: int, expected: type[R]) -> R:
        connection.sendall(request_frame(request, version, 1, "polling"))
        (size,) = SIZE.unpack(exactly(connection, SIZE.size))
        frame = exactly(connection, size)
        _, body = read_response_header(request.api, version, frame)
        return decode(expected, version, frame[body:])


class Librdkafka(Consumer):
    """confluent-kafka's consumer, with its partitions assigned by hand."""

    def __init__(self, bootstrap: str, topics: Sequence[str]) -> None:
        super().__init__(topics)
        self._bootstrap = bootstrap

    def __str__(self) -> str:
        return "librdkafka"

    def poll_until(self, over: threading.Event) -> None:
        """Poll in a loop, and go on after refusals."""
        from confluent_kafka import Consumer as Client
        from confluent_kafka import KafkaError, TopicPartition

        settings: dict[str, Any] = {
            "bootstrap.servers": self._bootstrap,
            "group.id": "polling",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": WAIT,
            "fetch.error.backoff.ms": 50,
            "log_level": 0,
        }
        client = Client(settings)
        client.assign([TopicPartition(topic, 0, 0) for topic in self.topics])
        while not over.is_set():
            message = client.poll(0.1)
            if message is None:
                continue
            error = message.error()
            if error is None:
                self.arrived(message.topic(), message.offset(), message.offset())
            elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                self.refused += 1
            else:
                raise AssertionError(error)
        client.close()
