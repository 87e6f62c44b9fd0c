"""Problems: every error of the admin side in the format of RFC 9457 (`application/problem+json`).

{"type": "about:blank", "title": "Unprocessable Content", "status": 422, "detail": "...",
 "problems": [{"place": "faults[2].do.error", "message": "unknown error ..."}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.text.plain import shown_path
from proxy.text.problems import Finding

SHOWN = 100  # problems in one answer
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}  # the titles of RFC 9110, which Python has since 3.13


class HttpError(Exception):
    """An error response. `findings` are the mistakes in the request's body."""

    def __init__(
        self, status: int, detail: str, findings: Iterable[Finding] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers
        self.findings = tuple(findings)


def _answer(problem: HttpError) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES.get(problem.status) or HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "problems": [{"place": shown_path(it.path), "message": it.message} for it in problem.findings[:SHOWN]],
    }
    if len(problem.findings) > SHOWN:
        body["detail"] += f"; these are the first {SHOWN} of {len(problem.findings):,} problems"
    return JSONResponse(body, problem.status, problem.headers, "application/problem+json")


async def _said(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HttpError)
    return _answer(problem)


async def _http(request: Request, error: Exception) -> Response:
    """Starlette's own errors: an unknown path, or a method that the path does not have."""
    assert isinstance(error, HTTPException)
    detail = f"{request.method} {request.url.path[:200]}: there is no such thing here; GET /openapi.json says what is"
    return _answer(HttpError(error.status_code, detail, headers=error.headers))


async def _state(request: Request, error: Exception) -> Response:
    assert isinstance(error, StateError)
    return _answer(HttpError(422, "nothing was changed", error.findings))


async def _no_plugin(request: Request, error: Exception) -> Response:
    return _answer(HttpError(409, str(error)))


async def _not_taken(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotTakenError)
    return _answer(HttpError(503, "nothing was changed: " + "; ".join(error.reasons)))


async def _bug(request: Request, error: Exception) -> Response:
    return _answer(HttpError(500, "the proxy failed; its log says where"))


HANDLERS: Mapping[Any, Any] = {
    HttpError: _said,
    HTTPException: _http,
    StateError: _state,
    NoPluginError: _no_plugin,
    NotTakenError: _not_taken,
    Exception: _bug,
}
