"""The server reports a large exchange once, when its body is no longer in memory."""

from __future__ import annotations

import weakref
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxy.admin.large_bodies import LARGE, LargeBodies


class Value:
    """What was read of a body."""


class Exchanges:
    """An application that reads a body and answers with a body."""

    def __init__(self, answer: int, fails: bool) -> None:
        self._answer, self._fails = answer, fails
        self._values: list[weakref.ref[Any]] = []
        self.left: list[int] = []  # values, each time that much was used
        routes = [Route("/", self._exchange, methods=["POST"])]
        self.app = Starlette(routes=routes, middleware=[Middleware(LargeBodies, self._used_much)])

    def _used_much(self) -> None:
        self.left.append(sum(value() is not None for value in self._values))

    async def _exchange(self, request: Request) -> Response:
        await request.body()
        value = Value()
        self._values.append(weakref.ref(value))
        if self._fails:
            raise HTTPException(422, "no")
        return Response(b"a" * self._answer)


@pytest.mark.parametrize(
    ("request_size", "answer_size", "fails", "left"),
    [
        (100, 100, False, []),
        (LARGE, 100, False, [0]),
        (100, LARGE, False, [0]),
        (LARGE, LARGE, False, [0]),
        (100, 100, True, []),
        (LARGE, 100, True, [0]),
    ],
)
async def test_a_large_exchange_is_told_of_once_when_it_is_over(
    request_size: int, answer_size: int, fails: bool, left: list[int]
) -> None:
    exchanges = Exchanges(answer_size, fails)
    transport = httpx.ASGITransport(app=exchanges.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.post("/", content=b"b" * request_size)
    assert answer.status_code == (422 if fails else 200)
    assert exchanges.left == left
