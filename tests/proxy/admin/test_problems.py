"""Every error is a problem document of RFC 9457."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.core.state import NotTakenError
from tests.proxy.admin.served import OneWorker, asked


class Failing(OneWorker):
    """Workers that fail in some manner."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        raise self.error


@pytest.mark.parametrize(
    ("method", "path", "status", "title", "detail"),
    [
        ("GET", "/fault", 404, "Not Found", "GET /fault: there is no such thing here"),
        ("PATCH", "/faults", 405, "Method Not Allowed", "PATCH /faults: there is no such thing here"),
        ("DELETE", "/" + "a" * 9_000, 404, "Not Found", f"DELETE /{'a' * 199}: there is no such thing here"),
    ],
)
async def test_what_is_not_there_is_a_problem(method: str, path: str, status: int, title: str, detail: str) -> None:
    async with asked() as client:
        answer = await client.request(method, path)
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["detail"].startswith(detail)
    assert {**said, "detail": ""} == {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": "",
        "problems": [],
    }


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (NotTakenError("it ends", "it hangs"), 503, "nothing was changed: it ends; it hangs"),
        (ZeroDivisionError("secret"), 500, "the proxy failed; its log says where"),
    ],
)
async def test_workers_that_fail_are_a_problem(error: Exception, status: int, detail: str) -> None:
    async with asked(Failing(error)) as client:
        answer = await client.get("/faults")
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)


async def test_workers_that_say_nothing_are_a_problem() -> None:
    class Silent(OneWorker):
        async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
            return {}

    async with asked(Silent()) as client:
        answer = await client.get("/ledger")
    assert (answer.status_code, answer.json()["title"]) == (503, "Service Unavailable")
