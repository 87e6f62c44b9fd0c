"""The connected clients of all workers."""

from __future__ import annotations

from typing import Any

import httpx

from proxy.admin.app import application
from proxy.admin.clients import MOST
from proxy.config.model import Admin
from tests.proxy.admin.served import Running, nothing


def connection(worker: int, since: float) -> dict[str, Any]:
    return {"id": f"{worker}-{since:g}", "since": since}


async def test_those_of_all_workers_are_shown_the_oldest_first_and_so_many_at_the_most() -> None:
    running = Running()
    running.connected = [
        {"total": 7, "connections": [connection(0, 3.0), connection(0, 1.0)]},
        {"total": 2_000, "connections": [connection(1, 2.0 + number) for number in range(MOST)]},
    ]
    app = application(running, 2, Admin.model_validate({"bind": "127.0.0.1:9190"}), nothing, dict)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = (await client.get("/connections")).json()
    assert answer["total"] == 2_007
    assert len(answer["connections"]) == MOST
    assert [it["id"] for it in answer["connections"][:3]] == ["0-1", "1-2", "0-3"]
