"""Operations: the requests that the admin side answers, each declared once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxy.admin.guard import Guard
from proxy.admin.shapes import HttpShape

Respond = Callable[[Request], Awaitable[Response]]


class QueryParameter(NamedTuple):
    """One parameter in the query of a URL. `type` is a type of JSON Schema."""

    name: str
    type: str
    description: str


@dataclass(frozen=True)
class HttpOperation:
    """One method of one path, and its description for users.

    `body`: the shape of its body; with `takes_several` it may also be a list of these. `problems`: its error statuses.
    `is_open`: it needs no permission of the guard.
    """

    method: str
    path: str
    do: Respond
    summary: str
    answer: type[HttpShape] | None = None
    status: int = 200
    body: type[HttpShape] | None = None
    problems: tuple[int, ...] = ()
    parameters: tuple[QueryParameter, ...] = ()
    takes_several: bool = False
    is_open: bool = False


def routes(operations: Iterable[HttpOperation], guard: Guard) -> list[Route]:
    """A route for each path."""
    by_path = groupby(sorted(operations, key=lambda it: it.path), key=lambda it: it.path)
    return [_route(path, {it.method: it for it in those}, guard) for path, those in by_path]


def _route(path: str, by_method: Mapping[str, HttpOperation], guard: Guard) -> Route:
    async def answer(request: Request) -> Response:
        operation = by_method["GET" if request.method == "HEAD" else request.method]
        if not operation.is_open:
            guard.check(request)
        return await operation.do(request)

    return Route(path, answer, methods=[*by_method])
