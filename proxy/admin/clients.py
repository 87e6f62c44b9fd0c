"""Clients: `/connections` shows who is connected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from proxy.admin.operations import HttpOperation
from proxy.admin.shapes import ConnectionsAnswer

MOST = 1_000  # connections in an answer

Connections = Callable[[int], Awaitable[list[dict[str, Any]]]]  # the argument: at most so many of each worker


class ClientOperations:
    """The operations about clients."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def operations(self) -> list[HttpOperation]:
        """All operations of this group."""
        return [HttpOperation("GET", "/connections", self._list, "Who is connected", ConnectionsAnswer)]

    async def _list(self, request: Request) -> Response:
        answers = await self._connections(MOST)
        shown = [connection for answer in answers for connection in answer["connections"]]
        shown.sort(key=lambda connection: connection["since"])
        return JSONResponse({"total": sum(answer["total"] for answer in answers), "connections": shown[:MOST]})
