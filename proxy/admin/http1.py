"""HTTP/1.1 only: the admin side speaks neither HTTP/2 nor WebSocket, even if a client asks for it.

Hypercorn accepts HTTP/2 by upgrade and by prior knowledge, and has no option against either. Stopped streams, and
floods of frames that each need an answer, would take time from the event loop that serves Kafka too.

It also accepts WebSocket by upgrade, and never closes a connection whose upgrade it refused.

And it takes a target in absolute form (`GET http://host/health`) for a path. A server must accept that form, and use
its host in place of the header `Host` (RFC 9112, 3.2.2). A client sends it if it takes this side for an HTTP proxy.
"""

import re

import h11
from hypercorn import protocol
from hypercorn.protocol.h11 import H11Protocol

ABSOLUTE = re.compile(rb"https?://([^/?]+)(.*)", re.IGNORECASE)  # the host, then the path and the query


class Http1Protocol(H11Protocol):
    """Never switches to another protocol: it ignores every upgrade, and `PRI` is an unknown method to it.

    It passes every target on in origin form.
    """

    async def _check_protocol(self, event: h11.Request) -> None:
        pass

    async def _create_stream(self, request: h11.Request) -> None:
        headers = [header for header in request.headers if header[0] != b"upgrade"]
        method, target, version = request.method, request.target, request.http_version
        if absolute := ABSOLUTE.fullmatch(target):
            host, rest = absolute.groups()
            headers = [(b"host", host), *(header for header in headers if header[0] != b"host")]
            target = rest if rest.startswith(b"/") else b"/" + rest
        await super()._create_stream(h11.Request(method=method, headers=headers, target=target, http_version=version))


def speak_http1_alone(as_protocol: type[Http1Protocol] = Http1Protocol) -> None:
    """Have Hypercorn use this protocol on every connection of this process."""
    protocol.H11Protocol = as_protocol  # type: ignore[attr-defined]  # where its servers look for it
