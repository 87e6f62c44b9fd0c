"""Shared by tests of the example plugins: Produce requests, and a link between a client and a broker."""

from __future__ import annotations

from typing import Any

from proxy.core.commands import Close, Command, ToBroker, ToClient
from proxy.core.context import Connection
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.plugin import (
    APIS,
    Plugin,
    ProduceRequest,
    ProtocolError,
    Record,
    RecordBatch,
    Request,
    Response,
    batches,
    write_batch,
)
from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, read_response_header
from proxy.testing import connection, from_broker, from_client, request_frame, response_frame
from tests.proxy.core.lending import with_turns

OLD_MESSAGE = bytes(8) + (14).to_bytes(4, "big") + bytes(14)  # a message in the old format, magic 0


class Asking:
    """A client and a broker with these plugins between them; gives the messages that come out of the link."""

    def __init__(self, *plugins: Plugin, client: Connection | None = None) -> None:
        self.connection = client or connection()
        self.link = Link(self.connection, Filters(plugins))
        self.link.begin()

    def ask(self, request: Request, version: int) -> Any:
        """Send a request. Gives the broker's Request, or the client's Response, or the reason for the close (a str)."""
        commands = from_client(self.link, bytearray(request_frame(request, version, 1, "app")))
        return self._seen(commands, request, version)

    def answer(self, response: Response, version: int, number: int = 1) -> Any:
        """The broker sends a response. Gives the client's Response, or a further Request to the broker."""
        commands = from_broker(self.link, bytearray(response_frame(response, version, number)))
        return self._seen(commands, response, version)

    def _seen(self, commands: list[Command], message: Request | Response, version: int) -> Any:
        commands, _ = with_turns(self.link, commands)
        frames = {
            kind: b"".join(bytes(command.data) for command in commands if isinstance(command, kind))[SIZE.size :]
            for kind in (ToBroker, ToClient)
        }
        if frame := frames[ToBroker]:
            header, body = read_request_header(frame)
            return decode(APIS[header.request_api_key].request, header.request_api_version, frame[body:])
        if frame := frames[ToClient]:
            api = type(message).api
            _, body = read_response_header(api, version, frame)
            return decode(api.response, version, frame[body:])
        return next(command.reason for command in commands if isinstance(command, Close))


def produce(*records: bytes | None, acks: int = 1) -> ProduceRequest:
    """A Produce request for one topic, with one partition for each of these records."""
    partitions = [ProduceRequest.Topic.Partition(index=index, records=each) for index, each in enumerate(records)]
    topic = ProduceRequest.Topic(name="orders", partition_data=partitions)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])


def batch(*values: bytes | None, **options: Any) -> bytes:
    """A batch of records with these values."""
    return write_batch([Record(b"k", value, timestamp=5) for value in values], **options)


def records(data: bytes | memoryview | None) -> list[Record]:
    """All records of these bytes. Raises ProtocolError."""
    found = []
    for each in batches(data or b""):
        if not isinstance(each, RecordBatch):
            raise ProtocolError("old messages")
        assert each.is_intact
        found += each.records()
    return found
