from __future__ import annotations

import socket
from functools import partial

import httpx
import trio
import trio.testing

from chaos.ports import is_free
from proxy.admin.server import IDLE, serve_admin
from proxy.config.model import Admin
from proxy.core.topology import Endpoint
from proxy.net.bind import listen
from tests.proxy.admin.served import made, nobody_closed
from tests.real.ports import free_port

LOOPBACK = "127.0.0.1"
PATIENCE = 60.0  # seconds: without a limit it would never end


async def test_it_answers_http_and_closes_its_port_when_cancelled() -> None:
    port = free_port(LOOPBACK)
    options = Admin.model_validate({"bind": f"{LOOPBACK}:{port}"})
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind")
    async with trio.open_nursery() as nursery:
        await nursery.start(serve_admin, [listening], partial(made, options), nobody_closed)
        async with httpx.AsyncClient() as client:
            for path in ("health", "metrics", "health"):
                assert (await client.get(f"http://{LOOPBACK}:{port}/{path}")).status_code == 200
        nursery.cancel_scope.cancel()
    assert not is_free(LOOPBACK, port)  # it can be begun again
    listening.close()
    assert is_free(LOOPBACK, port)


async def test_a_client_that_asks_once_a_minute_keeps_its_connection(mock_clock: trio.testing.MockClock) -> None:
    port = free_port(LOOPBACK)
    options = Admin.model_validate({"bind": f"{LOOPBACK}:{port}"})
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind")
    with listening:
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_admin, [listening], partial(made, options), nobody_closed)
            async with await trio.open_tcp_stream(LOOPBACK, port) as client:
                for _ in range(3):
                    await client.send_all(f"GET /health HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode())
                    await trio.testing.wait_all_tasks_blocked(0.05)
                    assert (await client.receive_some()).startswith(b"HTTP/1.1 200 ")
                    mock_clock.jump(60)
                    await trio.testing.wait_all_tasks_blocked(0.05)
                mock_clock.jump(IDLE - 60)
                assert await client.receive_some() == b""
            nursery.cancel_scope.cancel()


async def test_a_client_that_takes_no_answers_keeps_it_from_ending_for_a_moment_alone() -> None:
    port = free_port(LOOPBACK)
    options = Admin.model_validate({"bind": f"{LOOPBACK}:{port}"})
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind", untaken=0.1)
    with trio.fail_after(PATIENCE), listening, socket.socket() as client:
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_admin, [listening], partial(made, options), nobody_closed)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((LOOPBACK, port))
            client.sendall(f"GET /openapi.json HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode() * 100)
            await trio.to_thread.run_sync(partial(client.recv, 1))
            await trio.testing.wait_all_tasks_blocked(0.05)  # until one of the answers is not taken
            nursery.cancel_scope.cancel()
