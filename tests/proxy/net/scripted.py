"""Fake peers on real sockets: a broker controlled by the test, a client, and a gateway between them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.exposure import TellLearned
from proxy.net.gateway import Gateway
from proxy.protocol.api import API_VERSIONS, APIS, HEARTBEAT, METADATA
from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, read_response_header, request_frame, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.schema import Request, Response
from tests.real.ports import free_block

LOOPBACK = "127.0.0.1"
PATIENCE = 60.0  # seconds after which a test has failed
HEARTBEAT_REQUEST = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")

R = TypeVar("R", bound=Response)


class Broker:
    """Answers ApiVersions, Metadata and Heartbeat; its attributes change that."""

    def __init__(self, node_id: int = 1) -> None:
        self.node_id = node_id
        self.told: dict[int, Endpoint] = {}  # the brokers in Metadata; only itself unless set
        self.listed: list[tuple[int, Endpoint]] = []  # the same as a list, where a node id must occur twice
        self.asked: list[tuple[str, int]] = []  # API and version of each request
        self.mute: Collection[str] = ()  # names of APIs without a response until `speak`
        self.closes_on: Collection[str] = ()
        self.closes_after: Collection[str] = ()  # names of APIs after whose response it closes
        self.speak = trio.Event()
        self.heard = trio.Event()  # set when a request of a mute API arrived
        self.endpoint = Endpoint(LOOPBACK, 0)
        self._scope = trio.CancelScope()

    async def serve(self, task_status: trio.TaskStatus[list[trio.SocketListener]] = trio.TASK_STATUS_IGNORED) -> None:
        listeners = await trio.open_tcp_listeners(self.endpoint.port, host=LOOPBACK)
        self.endpoint = Endpoint(*listeners[0].socket.getsockname()[:2])
        with self._scope:
            await trio.serve_listeners(self._converse, listeners, task_status=task_status)

    def die(self) -> None:
        """End as if killed: close the port and every connection."""
        self._scope.cancel()

    async def _converse(self, stream: trio.SocketStream) -> None:
        try:
            while frame := await read_frame(stream):
                header, _ = read_request_header(frame)
                api, version = APIS[header.request_api_key], header.request_api_version
                self.asked.append((api.name, version))
                if api.name in self.closes_on:
                    return
                if api.name in self.mute:
                    self.heard.set()
                    await self.speak.wait()
                answer = self._answer(api.key, frame)
                await stream.send_all(response_frame(answer, version, header.correlation_id))
                if api.name in self.closes_after:
                    return
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(stream)

    def _answer(self, key: int, frame: bytes) -> Response:
        if key == API_VERSIONS.key:
            known = [
                ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=api.newest)
                for api in (API_VERSIONS, METADATA, HEARTBEAT)
            ]
            return ApiVersionsResponse(error_code=0, api_keys=known)
        if key == METADATA.key:
            told = self.listed or (self.told or {self.node_id: self.endpoint}).items()
            brokers = [MetadataResponse.Broker(node_id=n, host=at.host, port=at.port) for n, at in told]
            return MetadataResponse(brokers=brokers, topics=[])
        return HeartbeatResponse(error_code=0)


class Client:
    """A minimal client."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def ask(self, request: Request, expected: type[R], version: int = 4, number: int = 1) -> R:
        await self.send(request_frame(request, version, number, "test"))
        return await self.answer(expected, version)

    async def answer(self, expected: type[R], version: int = 4) -> R:
        with trio.fail_after(PATIENCE):
            frame = await read_frame(self.stream)
        assert expected.api is not None
        _, body = read_response_header(expected.api, version, frame)
        return decode(expected, version, frame[body:])

    async def beat(self, number: int = 1) -> int:
        """Send a Heartbeat, and give the error code of its response."""
        return (await self.ask(HEARTBEAT_REQUEST, HeartbeatResponse, number=number)).error_code

    async def is_closed(self) -> bool:
        """Wait for the end of the connection."""
        with trio.fail_after(PATIENCE):
            try:
                return not await self.stream.receive_some(1)
            except trio.BrokenResourceError:
                return True


async def all_usable(brokers: Mapping[int, Endpoint]) -> dict[int, Endpoint]:
    """The `discovered` of an upstream that can use every broker."""
    return dict(brokers)


async def read_frame(stream: trio.SocketStream) -> bytes:
    """The next frame without its size; empty at the end."""
    head = await _exactly(stream, SIZE.size)
    return await _exactly(stream, SIZE.unpack(head)[0]) if head else b""


async def _exactly(stream: trio.SocketStream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = await stream.receive_some(size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data


@asynccontextmanager
async def connected(host: str, port: int) -> AsyncIterator[Client]:
    async with await trio.open_tcp_stream(host, port) as stream:
        yield Client(stream)


def configuration(*bootstrap: Endpoint, port: int = 0, **more: Any) -> Config:
    """One cluster, and one listener on `port` or on a free one."""
    return Config.model_validate(
        {
            "clusters": {"main": {"bootstrap": [str(endpoint) for endpoint in bootstrap]}},
            "listeners": {"clients": {"cluster": "main", "bind": f"{LOOPBACK}:{port or free_block(8, LOOPBACK)}"}},
            **more,
        }
    )


@asynccontextmanager
async def serving(config: Config, tell: TellLearned | None = None) -> AsyncIterator[Gateway]:
    """A listening gateway, which is drained at the end of the block."""
    gateway = Gateway(config, tell=tell)
    started = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(gateway.run, lambda report: started.set() if report.ready else None)
        with trio.fail_after(PATIENCE):
            await started.wait()
        yield gateway
        gateway.stop()


def port_of(config: Config, node_id: int | None = None) -> int:
    """The port of a broker, or the bootstrap port."""
    port = config.listeners["clients"].bind.port
    return port if node_id is None else port + 1 + node_id
