"""The client of the admin API: controls the faults of a running Doorkeeper from Python.

    admin = AdminClient("http://127.0.0.1:9190")
    admin.add({"match": {"api": "Produce"}, "when": {"times": 1}, "do": {"disconnect": "after_broker"}})
    for entry in admin.ledger(wait=2.0).entries:
        print(entry)
    admin.reset()

Rules:
* Each request is sent once, on a connection of its own: several threads may use one client.
* When a call returns, its change is in force in all workers. A refused call (AdminError) has changed nothing.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from chaos.admin_answers import AdminError as AdminError
from chaos.admin_answers import (
    ClientConnection,
    FaultJson,
    FaultStatus,
    FaultStatusList,
    LedgerPage,
    client_connections,
    fault_status,
    fault_statuses,
    ledger_page,
    names,
    nothing,
    refused,
)

PAGE = 1_000  # entries of the ledger in one answer, at the most
ADDRESS = "give the address that stands at `admin: bind` in the proxy's configuration"
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")  # OpenSSL's reasons, by its version: no TLS came back
T = TypeVar("T")


class AdminClient:
    """Speaks to the admin API at `url`. `seconds`: the timeout of an answer, without the time of `wait`."""

    def __init__(self, url: str, token: str | None = None, seconds: float = 60.0) -> None:
        if "@" in url:  # what stands before it is not repeated, since it may be a password
            raise AdminError("the URL of an admin side has no user or password; give a token instead")
        try:
            parts = urlsplit(url)
            is_url = parts.scheme in ("http", "https") and parts.hostname is not None and parts.port != 0
        except ValueError:  # an invalid port or IPv6 address
            is_url = False
        if not is_url:
            raise AdminError(f'"{url}" is no URL of an admin side; write e.g. "http://127.0.0.1:9190"')
        if token is not None and not (token.isascii() and token.isprintable()):
            raise AdminError("the token has characters that no token has; check the file that it comes from")
        self._url = url
        self._parts = parts
        self._seconds = seconds
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def add(self, *faults: FaultJson) -> list[str]:
        """Add faults after the present ones, all of them or none. Returns their names."""
        return self._ask("POST", "/faults", names, faults)

    def replace(self, name: str, fault: FaultJson) -> FaultStatus:
        """Replace the fault of this name."""
        return self._ask("PUT", _path(name), fault_status, fault)

    def remove(self, name: str) -> FaultStatus:
        """Remove a fault. Returns its last counts."""
        return self._ask("DELETE", _path(name), fault_status)

    def fault(self, name: str) -> FaultStatus:
        """One fault."""
        return self._ask("GET", _path(name), fault_status)

    def faults(self) -> FaultStatusList:
        """All faults, those of the file first."""
        return self._ask("GET", "/faults", fault_statuses)

    def release(self, name: str) -> None:
        """Release all requests and answers that this fault holds."""
        self._ask("POST", f"{_path(name)}/release", nothing)

    def populate(self, faults: Iterable[FaultJson], seed: int | None = None) -> list[str]:
        """Have exactly these faults, beside those of the file. Faults that are unchanged keep their counts."""
        return self._ask("POST", "/populate", names, {"seed": seed, "faults": list(faults)})

    def reset(self, seed: int | None = None) -> None:
        """Remove all faults that are not of the file, and begin all counts anew."""
        self._ask("POST", "/reset", nothing, {"seed": seed})

    def ledger(self, since: int = 0, wait: float = 0.0, limit: int = PAGE) -> LedgerPage:
        """The entries of the ledger after number `since`. `wait`: seconds to wait for a first one."""
        query = urlencode({"since": since, "wait": wait, "limit": limit})
        return self._ask("GET", f"/ledger?{query}", ledger_page, wait=wait)

    def pages(self, since: int = 0) -> Iterator[LedgerPage]:
        """The entries that are there now, page by page. A page that is not full is the last: more may come for ever."""
        page = self.ledger(since)
        yield page
        while len(page.entries) == PAGE:
            page = self.ledger(page.next)
            yield page

    def connections(self) -> list[ClientConnection]:
        """The connections of clients: the first 1,000."""
        return self._ask("GET", "/connections", client_connections)

    def _ask(self, method: str, path: str, read: Callable[[Any], T], said: Any = None, wait: float = 0.0) -> T:
        body = None if said is None else json.dumps(said)
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        make = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        try:
            with closing(make(self._parts.netloc.rpartition("@")[2], timeout=self._seconds + wait)) as connection:
                connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
                response = connection.getresponse()
                status, content = response.status, response.read()
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            if isinstance(error, ssl.SSLError) and error.reason in NO_TLS:
                raise AdminError(f"{self._url} does not speak TLS; write http:// in place of https://") from None
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            way_out = f"see that the proxy runs, with `admin: {{bind: {self._parts.netloc}}}` in its configuration"
            raise AdminError(f"{self._url} does not answer: {why}; {way_out}") from None
        try:
            answer = json.loads(content) if content else None
        except ValueError:
            raise AdminError(f"{self._url} is no admin side: its answer is no JSON; {ADDRESS}", status) from None
        if status >= 400:
            raise refused(answer, status)
        try:
            return read(answer)
        except (KeyError, TypeError):
            raise AdminError(
                f"{self._url} is no admin side of this version: its answer is another one; {ADDRESS}", status
            ) from None


def _path(name: str) -> str:
    return f"/faults/{quote(name, safe='')}"
