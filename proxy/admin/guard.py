"""The guard: who may see clients and change what the proxy does to them.

Rules:
* Where there is a token, it must be sent: `Authorization: Bearer TOKEN`.
* Without one, only who comes by loopback may: where the admin side is bound elsewhere, nobody.
* A page of some website may have a browser send requests to loopback. Without a token, those of browsers are refused:
  they name where they come from (`Origin`), say that it is elsewhere (`Sec-Fetch-Site`: an image has no `Origin`), or
  name a host that is not this machine's own (`Host`, by DNS rebinding).
"""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.requests import Request

from proxy.admin.problems import HttpError
from proxy.core.addresses import is_loopback

SCHEME = "Bearer "
OF_NO_PAGE = ("none", "same-origin")  # typed into a browser, or asked from what we answered


class Guard:
    """`token`: what must be sent, if anything. `host`: where the admin side is bound."""

    def __init__(self, token: str | None, host: str) -> None:
        self._token = token
        self._is_local = is_loopback(host)

    def check(self, request: Request) -> None:
        """Raises HttpError for those who may not."""
        if self._token is None:
            self._check_local(request)
        elif not hmac.compare_digest(_sent_token(request), self._token.encode()):
            headers = {"www-authenticate": "Bearer"}
            raise HttpError(401, 'the token is needed: send "Authorization: Bearer TOKEN"', headers=headers)

    def _check_local(self, request: Request) -> None:
        if not self._is_local:
            way_out = 'give "admin:" a "token_file:", or bind it to 127.0.0.1'
            raise HttpError(403, f"without a token this is answered on loopback alone; {way_out}")
        is_of_page = "origin" in request.headers or request.headers.get("sec-fetch-site", "none") not in OF_NO_PAGE
        if is_of_page or not _is_ours(request.headers.get("host", "")):
            raise HttpError(403, 'browsers are not answered here without a token; give "admin:" a "token_file:"')


def _is_ours(host: str) -> bool:
    """Whether a `Host` is a name of this machine alone; who says none is no browser."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return not host or (name is not None and is_loopback(name))


def _sent_token(request: Request) -> bytes:
    said = request.headers.get("authorization", "")
    return said.removeprefix(SCHEME).encode("latin-1") if said.startswith(SCHEME) else b""
