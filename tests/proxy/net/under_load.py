"""Load: clients that never stop, a broker that answers them, and a plugin whose effect each of them can see."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward
from proxy.core.decorators import on_request, on_response
from proxy.core.plugin import Options, Plugin
from proxy.protocol.api import APIS
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import read_request_header, read_response_header, request_frame, response_frame
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.schema import Request, Response
from tests.proxy.net.scripted import LOOPBACK, Broker, Client, connected, read_frame

CLIENTS = 2  # of each kind
IN_FLIGHT = 5
SESSION = 7


class Marking(Plugin):
    """Writes its mark into Heartbeats, and into their answers unless these bring another's."""

    class Options(Options):
        mark: int

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        request.generation_id = self.options.mark
        return Forward(request)

    @on_response(HeartbeatResponse)
    def answer(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        if response.throttle_time_ms != self.options.mark:
            response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
        response.throttle_time_ms += 1000 * self.options.mark
        return Forward(response)


class Answering(Broker):
    """Answers Produce and Fetch too, and tells of a Heartbeat the mark that it came with. Counts what it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: Counter[str] = Counter()  # by API

    async def _converse(self, stream: trio.SocketStream) -> None:
        try:
            while frame := await read_frame(stream):
                header, body = read_request_header(frame)
                api, version = APIS[header.request_api_key], header.request_api_version
                answer = self._of(decode(api.request, version, frame[body:]), frame)
                self.answered[api.name] += 1
                await stream.send_all(response_frame(answer, version, header.correlation_id))
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(stream)

    def _of(self, request: Request, frame: bytes) -> Response:
        match request:
            case HeartbeatRequest():
                return HeartbeatResponse(error_code=0, throttle_time_ms=request.generation_id)
            case ProduceRequest():
                return ProduceResponse(responses=[])
            case FetchRequest():
                return FetchResponse(session_id=SESSION, responses=[])
            case _:
                return self._answer(request.api.key, frame)


class Load:
    """Clients that never stop. What they get is counted by what it is."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.stopping = False
        self.got: Counter[str] = Counter()

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as nursery:
            for _ in range(CLIENTS):
                nursery.start_soon(self._beat)
                nursery.start_soon(self._produce)
                nursery.start_soon(self._fetch)
            yield
            self.stopping = True

    async def _beat(self) -> None:
        """So many Heartbeats in flight, always."""
        async with connected(LOOPBACK, self._port) as client:
            request = HeartbeatRequest(group_id="g", generation_id=0, member_id="m")
            asked = answered = 0
            while answered < asked or not self.stopping:
                while asked < answered + IN_FLIGHT and not self.stopping:
                    asked += 1
                    await client.send(request_frame(request, 4, asked, "test"))
                answered += 1
                answer = await self._answer(client, HeartbeatResponse, 4, answered)
                mark, by = answer.throttle_time_ms % 1000, answer.throttle_time_ms // 1000
                assert (answer.error_code, mark) == (0, by), "a request was under two configurations"
                self.got[f"Heartbeat of {mark}"] += 1

    async def _produce(self) -> None:
        partition = ProduceRequest.Topic.Partition(index=0, records=b"r" * 3000)
        topic = ProduceRequest.Topic(name="orders", partition_data=[partition])
        request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
        async with connected(LOOPBACK, self._port) as client:
            for number in self._numbers():
                frame = request_frame(request, 9, number, "test")
                await client.send(frame[:1500])
                await trio.lowlevel.checkpoint()  # configurations come in the middle of frames too
                await client.send(frame[1500:])
                answer = await self._answer(client, ProduceResponse, 9, number)
                assert not answer.responses, "it was refused"
                self.got["Produce"] += 1

    async def _fetch(self) -> None:
        """With a session, which begins anew where it is not known."""
        epoch = 0
        partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=1, partition_max_bytes=1000)
        topics = [FetchRequest.Topic(topic="orders", partitions=[partition])]
        async with connected(LOOPBACK, self._port) as client:
            for number in self._numbers():
                opens = not epoch
                session = 0 if opens else SESSION
                request = FetchRequest(
                    max_wait_ms=0,
                    min_bytes=1,
                    session_id=session,
                    session_epoch=epoch,
                    topics=topics if opens else [],
                    forgotten_topics_data=[],
                )
                await client.send(request_frame(request, 12, number, "test"))
                answer = await self._answer(client, FetchResponse, 12, number)
                assert answer.error_code in (0, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
                epoch = 0 if answer.error_code else epoch + 1
                self.got["Fetch" if epoch else "Fetch begun anew"] += 1

    def _numbers(self) -> Iterator[int]:
        number = 0
        while not self.stopping:
            number += 1
            yield number

    async def _answer(self, client: Client, expected: Any, version: int, number: int) -> Any:
        with trio.fail_after(30):
            frame = await read_frame(client.stream)
        assert frame, "the connection was dropped"
        header, body = read_response_header(expected.api, version, frame)
        assert header.correlation_id == number, "an answer was lost, or came twice"
        return decode(expected, version, frame[body:])
