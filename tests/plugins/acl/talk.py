"""A client, the ACL plugin and a broker, played on a link without a network: messages in, messages out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from plugins.acl import Acl
from proxy.core.commands import Close, Command, Emit, Perform, ToBroker, ToClient, Wake
from proxy.core.events import Denied, Event
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.header import read_request_header, read_response_header, request_frame, response_frame
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import FakeWorker, build, connection, from_broker, from_client

Broker = Callable[[Request, int], Response | None]


class Clock:
    """The wall clock of the tests: Sunday 2023-11-19, noon UTC, unless set."""

    def __init__(self) -> None:
        self.time = 1_700_395_200.0

        self.now = 0.0

    def read(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.time


class Rules:
    """A rules file, and the plugin that applies it."""

    def __init__(self, file: Path, text: str, *, shadow: bool = False) -> None:
        self.file = file
        self.clock = Clock()
        file.write_text(text)
        self.worker = FakeWorker(clock=self.clock)
        self.acl = build(Acl, self.worker, rules=str(file), shadow=shadow)

    def become(self, text: str) -> None:
        """Put other rules in force."""
        self.file.write_text(text)
        (reload,) = self.worker.look()
        assert reload.taken, reload.said


class Talk:
    """One connection of one client. `broker` answers requests that reach it; without one, the test calls `answer`."""

    def __init__(
        self, acl: Acl, principal: str | None = "User:alice", broker: Broker | None = None, *others: Plugin
    ) -> None:
        self.connection = connection()
        self.connection.principal, self.connection.mechanism = principal, "PLAIN"
        self.link = Link(self.connection, Filters([*others, acl]))
        self.link.begin()
        self.broker = broker
        self.to_broker: list[Any] = []  # requests that reached the broker
        self.events: list[Event] = []
        self.closed: str | None = None
        self._leaving, self._arriving = bytearray(), bytearray()  # incomplete frames
        self.turns = 0  # turns of other connections, between slices of long work
        self._waiting: list[Callable[[], list[Command]]] = []  # continues after such a turn, or after work in a thread
        self._asked: list[tuple[Api, int, int]] = []  # requests at the broker without a response
        self._sent: list[tuple[Api, int]] = []  # requests of the client without a response
        self._got: list[Any] = []
        self._number = 0

    def ask(self, request: Request, version: int) -> Any:
        """Send a request. Gives the response, if there is one."""
        self.send(request_frame(request, version, self._number + 1, "app"), request.api, version)
        return self._got.pop(0) if self._got else None

    def send(self, frame: bytes, api: Api, version: int) -> None:
        """Send a frame."""
        self._number += 1
        self._sent.append((api, version))
        self._happens(from_client(self.link, memoryview(bytearray(frame))))

    def more(self, data: bytes) -> None:
        """Send more of a frame that began."""
        self._happens(from_client(self.link, memoryview(bytearray(data))))

    def answer(self, response: Response) -> Any:
        """The broker answers its oldest request. Gives the response that the client gets."""
        api, version, number = self._asked.pop(0)
        assert api is response.api
        self._happens(from_broker(self.link, memoryview(bytearray(response_frame(response, version, number)))))
        return self._got.pop(0) if self._got else None

    def rest(self) -> list[Any]:
        """The other responses that the client got."""
        rest, self._got = self._got, []
        return rest

    @property
    def denied(self) -> list[tuple[str, str, str]]:
        """All refusals so far: operation, resource, name."""
        return [(it.operation, it.resource, it.name) for it in self.events if isinstance(it, Denied)]

    def _happens(self, commands: list[Command]) -> None:
        self._carry_out(commands)
        while self._waiting:
            self._carry_out(self._waiting.pop(0)())

    def _perform(self, perform: Perform) -> list[Command]:
        try:
            value = perform.work()
        except Exception as error:
            return self.link.performed(perform.token, None, error)
        return self.link.performed(perform.token, value)

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToBroker):
                self._leaving += command.data
                for frame in _frames(self._leaving):
                    self._reach(frame)
            elif isinstance(command, ToClient):
                self._arriving += command.data
                for frame in _frames(self._arriving):
                    api, version = self._sent.pop(0)
                    _, body = read_response_header(api, version, frame)
                    self._got.append(decode(api.response, version, frame[body:]))
            elif isinstance(command, Emit):
                self.events.append(command.event)
            elif isinstance(command, Close):
                self.closed = command.reason
            elif isinstance(command, Wake) and not command.seconds:
                self.turns += 1
                self._waiting.append(partial(self.link.wake, command.token))
            elif isinstance(command, Perform):
                self._waiting.append(partial(self._perform, command))
        while self.broker is not None and self._asked and not self.link.closed:
            api, version, number = self._asked[0]
            answer = self.broker(self.to_broker[-len(self._asked)], version)
            if answer is None:
                break
            del self._asked[0]
            self._carry_out(from_broker(self.link, memoryview(bytearray(response_frame(answer, version, number)))))

    def _reach(self, frame: bytes) -> None:
        _, key_and_version, number = REQUEST_HEAD.unpack_from(SIZE.pack(len(frame)) + frame)
        api, version = APIS[key_and_version >> 16], key_and_version & 0xFFFF
        _, body = read_request_header(frame)
        request: Any = decode(api.request, version, frame[body:])
        self.to_broker.append(request)
        if getattr(request, "acks", 1) != 0:
            self._asked.append((api, version, number))


def _frames(data: bytearray) -> Iterator[bytes]:
    """Take all complete frames out of this buffer."""
    while len(data) >= SIZE.size and len(data) >= SIZE.size + SIZE.unpack_from(data)[0]:
        (size,) = SIZE.unpack_from(data)
        frame = bytes(data[SIZE.size : SIZE.size + size])
        del data[: SIZE.size + size]
        yield frame


def topic_id(name: str) -> bytes:
    """The id of a topic in these tests."""
    return name.encode().ljust(16, b"\0")


def metadata_of(topics: dict[str, bytes], request: MetadataRequest) -> MetadataResponse:
    """The Metadata response of a broker with these topics."""
    by_id = {each: name for name, each in topics.items()}
    asked: list[tuple[str | None, bytes]]
    if request.topics is None:
        asked = list(topics.items())
    else:
        asked = [
            (topic.name, topics.get(topic.name, bytes(16)))
            if topic.name is not None
            else (by_id.get(topic.topic_id), topic.topic_id)
            for topic in request.topics
        ]
    found = [
        MetadataResponse.Topic(
            error_code=0 if name in topics else 3 if name is not None else 100, name=name, topic_id=each, partitions=[]
        )
        for name, each in asked
    ]
    return MetadataResponse(brokers=[], topics=found)
