"""Fetching over HTTP for OAUTHBEARER: keys to verify clients' tokens, and tokens for the proxy itself.

Rules:
* The keys of a URL are fetched once an hour, and when a token names an unknown key. Two fetches are at least 10 s
  apart. If a fetch fails, the previous keys stay. Keys are read in a thread, since there may be many.
* A token of ours is renewed after four fifths of its lifetime, at least a second later. If that fails, it is retried
  with growing pauses.
* The trusted authorities are read at each fetch, so that a changed file counts from the next one on.
* An answer that is larger than a file of keys may be, or does not end in time, is not read further. The time is for all
  of it: to connect, TLS, the headers and the body. It is asked for uncompressed, and read as it came: a few bytes can
  become very many.
* It is read by a trio of its own, in a thread. One deadline then bounds everything, and an answer of many small parts,
  which are parsed one after the other, keeps no connection waiting.
* Requests to a token endpoint and its responses are never logged. Neither are parts of a URL that may be secret.
"""

from __future__ import annotations

import json
import ssl
from functools import partial
from math import inf
from typing import Any
from urllib.parse import urlsplit

import httpx
import structlog
import trio
from joserfc.jwk import KeySet

from proxy.auth.keys import LARGEST, keys_in
from proxy.config.sasl import Elsewhere, TokenClient
from proxy.config.tls import UnusableError
from proxy.net.dial import reason
from proxy.net.tls.contexts import trusting
from proxy.net.tls.sayings import described

log = structlog.get_logger()

EVERY = 3600.0
SOONEST = 10.0
RENEW_AT = 0.8
PLAIN = {"Accept-Encoding": "identity"}
WHOLE = 10.0  # seconds for a whole answer, from the beginning of the connection
FIRST_RETRY, LAST_RETRY = 1.0, 60.0
DEFAULT_LIFETIME = 300.0  # seconds, for a token whose endpoint gives no lifetime
CUT_OFF = "the connection ended before the answer did"
# How messages of httpx and h11 begin -> what we say. They go on with the bytes, as Python writes them.
MALFORMED = {
    "illegal status line": "the answer does not begin with a status line of HTTP/1.1",
    "illegal header line": "a header of the answer is not valid",
    "bad Content-Length": "the header Content-Length of the answer is not a number",
    "Receive buffer too long": "the headers of the answer are too long",
    "Invalid URL in location header": "the answer redirects to a URL that is not valid",
    "Server disconnected": CUT_OFF,
    "peer closed connection": CUT_OFF,
}


class AnswerError(Exception):
    """The answer is too large, or does not end in time."""


async def _answer(verify: ssl.SSLContext, method: str, url: str, **more: Any) -> bytes:
    """The body of the answer. Raises AnswerError, and httpx's errors."""
    said = bytearray()
    with trio.move_on_after(WHOLE) as reading:
        async with (
            httpx.AsyncClient(timeout=None, verify=verify, headers=PLAIN) as client,
            client.stream(method, url, **more) as response,
        ):
            response.raise_for_status()
            async for part in response.aiter_raw():
                said += part
                if len(said) > LARGEST:
                    reading.cancel()  # the next read ends it: to leave the loop here would leave httpx's iterators open
    if len(said) > LARGEST:
        raise AnswerError(f"the answer is larger than {LARGEST >> 10:,} KiB")
    if reading.cancelled_caught:
        raise AnswerError(f"no whole answer within {WHOLE:g} s")
    return bytes(said)


def _answer_here(elsewhere: Elsewhere, method: str, url: str, **more: Any) -> bytes:
    return trio.run(partial(_answer, trusting(elsewhere), method, url, **more))


async def _fetched(elsewhere: Elsewhere, method: str, url: str, **more: Any) -> bytes:
    return await trio.to_thread.run_sync(partial(_answer_here, elsewhere, method, url, **more), abandon_on_cancel=True)


def _place(url: str) -> str:
    """A URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _why(error: Exception) -> str:
    """The reason of a failure. httpx's connection errors have no text, but their causes do."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"the answer is {error.response.status_code}"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"no TLS: {described(cause, b'')}"
        if isinstance(cause, OSError):
            return reason(cause)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.RemoteProtocolError):
        found = (ours for begin, ours in MALFORMED.items() if str(error).startswith(begin))
        return next(found, "the answer is not valid HTTP/1.1")
    return str(error) or type(error).__name__


class FetchedKeys:
    """The keys at a URL, kept up to date."""

    def __init__(self, url: str, elsewhere: Elsewhere) -> None:
        self._url = url
        self._elsewhere = elsewhere
        self._missing = trio.Event()
        self.keys = KeySet([])

    def missing(self) -> None:
        """An unknown key was named: fetch again soon."""
        self._missing.set()

    async def watch(self) -> None:
        """Fetch until cancelled."""
        while True:
            try:
                said = await _fetched(self._elsewhere, "GET", self._url)
                self.keys = await trio.to_thread.run_sync(keys_in, said)
                log.info("keys fetched", url=_place(self._url), keys=len(self.keys.keys))
            except (httpx.HTTPError, httpx.InvalidURL, UnusableError, AnswerError, ValueError) as error:
                log.warning("keys not fetched", url=_place(self._url), why=_why(error))
            self._missing = trio.Event()
            await trio.sleep(SOONEST)
            with trio.move_on_after(EVERY - SOONEST if self.keys.keys else 0):
                await self._missing.wait()


class FetchedToken:
    """A token for the proxy itself, kept up to date."""

    def __init__(self, client: TokenClient) -> None:
        self._client = client
        self.token: str | None = None
        self._ends = 0.0

    def current(self) -> str | None:
        """The token, if it has not expired."""
        return self.token if trio.current_time() < self._ends else None

    async def watch(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Fetch and renew until cancelled. Reports `started` after the first attempt."""
        retry = FIRST_RETRY
        while True:
            lifetime = await self._fetch()
            task_status.started()
            task_status = trio.TASK_STATUS_IGNORED
            if lifetime is None:
                await trio.sleep(retry)
                retry = min(retry * 2, LAST_RETRY)
            else:
                retry = FIRST_RETRY
                await trio.sleep(max(lifetime * RENEW_AT, FIRST_RETRY))

    async def _fetch(self) -> float | None:
        ask, endpoint = self._client, _place(self._client.endpoint)
        form = {"grant_type": "client_credentials"} | ({"scope": ask.scope} if ask.scope else {})
        try:
            who = ask.client_id, ask.client_secret.get_secret_value()
            said = await _fetched(ask, "POST", ask.endpoint, data=form, auth=who)
        except (httpx.HTTPError, httpx.InvalidURL, UnusableError, AnswerError, ValueError) as error:
            log.warning("token not fetched", endpoint=endpoint, why=_why(error))
            return None
        try:
            answer = json.loads(said)
            token, lifetime = answer["access_token"], float(answer.get("expires_in") or DEFAULT_LIFETIME)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            log.warning("token not fetched", endpoint=endpoint, why="the answer has no access_token")
            return None
        if not isinstance(token, str) or not 0 < lifetime < inf:
            log.warning("token not fetched", endpoint=endpoint, why="the answer has no access_token that holds")
            return None
        self.token, self._ends = token, trio.current_time() + lifetime
        log.debug("access granted", endpoint=endpoint, seconds=lifetime)
        return lifetime
