from __future__ import annotations

import httpx
import trio

from proxy.admin.server import serve_admin
from proxy.core.topology import Endpoint
from proxy.net.bind import listen
from proxy.telemetry.report import Report, Reports
from tests.real.ports import free_port, is_free

LOOPBACK = "127.0.0.1"


async def ready() -> Reports:
    return {0: Report(True)}


async def test_it_answers_http_and_closes_its_port_when_cancelled() -> None:
    port = free_port(LOOPBACK)
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind")
    async with trio.open_nursery() as nursery:
        await nursery.start(serve_admin, [listening], ready, 1)
        async with httpx.AsyncClient() as client:
            for path in ("health", "metrics", "health"):
                assert (await client.get(f"http://{LOOPBACK}:{port}/{path}")).status_code == 200
        nursery.cancel_scope.cancel()
    assert not is_free(LOOPBACK, port)  # it can be begun again
    listening.close()
    assert is_free(LOOPBACK, port)
