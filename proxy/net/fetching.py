"""Fetching what OAUTHBEARER needs from elsewhere: keys to judge clients' tokens by, and tokens of our own.

Rules:
* Keys of a URL are fetched once an hour, and when a token has a key that is not known, but never twice within 10 s.
  What cannot be had leaves what there was.
* A token of ours is renewed when four fifths of its time are over; where that fails, again and again, a little later
  each time.
* Whom we trust there is read each time: a file that changed counts from the next time on.
* What is sent to a token endpoint, and what it answers, is never told to anybody; nor is what may be secret in a URL.
"""

from __future__ import annotations

import ssl
from math import inf
from urllib.parse import urlsplit

import httpx
import structlog
import trio
from joserfc.jwk import KeySet

from proxy.auth.keys import keys_in
from proxy.config.sasl import Elsewhere, TokenClient
from proxy.config.tls import UnusableError
from proxy.net.dial import reason
from proxy.net.tls.contexts import trusting
from proxy.net.tls.sayings import described

log = structlog.get_logger()

EVERY = 3600.0
SOONEST = 10.0
RENEW_AT = 0.8
PATIENCE = 10.0
FIRST_RETRY, LAST_RETRY = 1.0, 60.0
DEFAULT_LIFETIME = 300.0  # of a token whose endpoint does not say


def _client(elsewhere: Elsewhere) -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=PATIENCE, verify=trusting(elsewhere))


def _place(url: str) -> str:
    """A URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _why(error: Exception) -> str:
    """What went wrong. What httpx says of a connection has no words; what it comes from has."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"the answer is {error.response.status_code}"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"no TLS: {described(cause, b'')}"
        if isinstance(cause, OSError):
            return reason(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__


class FetchedKeys:
    """The keys at a URL."""

    def __init__(self, url: str, elsewhere: Elsewhere) -> None:
        self._url = url
        self._elsewhere = elsewhere
        self._missing = trio.Event()
        self.keys = KeySet([])

    def missing(self) -> None:
        """A key is not known: look again soon."""
        self._missing.set()

    async def watch(self) -> None:
        """Fetch until cancelled."""
        while True:
            try:
                async with _client(self._elsewhere) as client:
                    response = await client.get(self._url)
                    response.raise_for_status()
                self.keys = keys_in(response.text)
                log.info("keys fetched", url=_place(self._url), keys=len(self.keys.keys))
            except (httpx.HTTPError, httpx.InvalidURL, UnusableError, ValueError) as error:
                log.warning("keys not fetched", url=_place(self._url), why=_why(error))
            self._missing = trio.Event()
            await trio.sleep(SOONEST)
            with trio.move_on_after(EVERY - SOONEST if self.keys.keys else 0):
                await self._missing.wait()


class FetchedToken:
    """A token of our own."""

    def __init__(self, client: TokenClient) -> None:
        self._client = client
        self.token: str | None = None
        self._ends = 0.0

    def current(self) -> str | None:
        """The token, while it holds."""
        return self.token if trio.current_time() < self._ends else None

    async def watch(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Fetch and renew until cancelled; started after the first attempt."""
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
                await trio.sleep(lifetime * RENEW_AT)

    async def _fetch(self) -> float | None:
        ask, endpoint = self._client, _place(self._client.endpoint)
        form = {"grant_type": "client_credentials"} | ({"scope": ask.scope} if ask.scope else {})
        try:
            async with _client(ask) as client:
                response = await client.post(
                    ask.endpoint, data=form, auth=(ask.client_id, ask.client_secret.get_secret_value())
                )
                response.raise_for_status()
            answer = response.json()
            token, lifetime = answer["access_token"], float(answer.get("expires_in") or DEFAULT_LIFETIME)
        except (httpx.HTTPError, httpx.InvalidURL, UnusableError) as error:
            log.warning("token not fetched", endpoint=endpoint, why=_why(error))
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            log.warning("token not fetched", endpoint=endpoint, why="the answer has no access_token")
            return None
        if not isinstance(token, str) or not 0 < lifetime < inf:
            log.warning("token not fetched", endpoint=endpoint, why="the answer has no access_token that holds")
            return None
        self.token, self._ends = token, trio.current_time() + lifetime
        log.debug("access granted", endpoint=endpoint, seconds=lifetime)
        return lifetime
