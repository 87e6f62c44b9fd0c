"""The guard: decides who may see clients and change what the proxy does to them.

Rules:
* If a token is configured, a request must have it: `Authorization: Bearer TOKEN`.
* Without a token, only requests over loopback are allowed. If the admin side is bound elsewhere, none are.
* A web page may make a browser send requests to loopback. Without a token, such requests are refused. They are known by
  their origin (`Origin`), by a note that they come from another site (`Sec-Fetch-Site`: an image has no `Origin`), or
  by a host name that is not this machine's own (`Host`, with DNS rebinding).
"""

from __future__ import annotations

import hmac
import re

from starlette.requests import Request

from proxy.admin.problems import HttpError
from proxy.core.addresses import is_loopback

# A name and a port, and nothing else that a reader of URLs would take for another part: "evil@localhost".
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{0,5})?")
SCHEME = "bearer"  # in any case: RFC 7235
OF_NO_PAGE = ("none", "same-origin")  # typed into a browser, or requested by a page of ours


class Guard:
    """`token`: the token that a request must have, if any. `host`: the address to which the admin side is bound."""

    def __init__(self, token: str | None, host: str) -> None:
        self._token = token
        self._is_local = is_loopback(host)

    def check(self, request: Request) -> None:
        """Raises HttpError if the request is not allowed."""
        if self._token is None:
            self._check_local(request)
        elif not hmac.compare_digest(_sent_token(request), self._token.encode()):
            headers = {"www-authenticate": "Bearer"}
            raise HttpError(401, 'the token is needed: send "Authorization: Bearer TOKEN"', headers=headers)

    def _check_local(self, request: Request) -> None:
        if not self._is_local:
            way_out = 'give "admin:" a "token:", or bind it to 127.0.0.1'
            raise HttpError(403, f"without a token this is answered on loopback alone; {way_out}")
        is_of_page = "origin" in request.headers or request.headers.get("sec-fetch-site", "none") not in OF_NO_PAGE
        if is_of_page or not _is_ours(request.headers.get("host", "")):
            raise HttpError(403, 'browsers are not answered here without a token; give "admin:" a "token:"')


def _is_ours(host: str) -> bool:
    """Whether a `Host` names only this machine. A request without one is not from a browser."""
    said = HOST.fullmatch(host)
    return not host or (said is not None and is_loopback(said[1] or said[2]))


def _sent_token(request: Request) -> bytes:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.encode("latin-1") if scheme.lower() == SCHEME else b""
