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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

FaultJson = Mapping[str, Any]  # as in a file of faults: name, match, when, do
PAGE = 1_000  # entries of the ledger in one answer, at the most
T = TypeVar("T")
LedgerResult = Literal["fired", "not_now", "cannot", "near_miss"]


class AdminError(Exception):
    """A request was refused, or never arrived. `status` is None if there was no answer."""

    def __init__(self, text: str, status: int | None = None, problems: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.problems = tuple(problems)  # (place, message): ("faults[0].do.error", "unknown error ...")


@dataclass(frozen=True)
class FaultStatus:
    """A fault that is in force, with numbers over all workers. `ends`: when its window is over; seconds since 1970."""

    name: str
    source: Literal["file", "api"]
    fault: FaultJson
    matched: int
    fired: int
    ends: float | None


@dataclass(frozen=True)
class FaultStatusList:
    """All faults that are in force, the seed of chance, and how often all counts began anew."""

    seed: int
    resets: int
    faults: tuple[FaultStatus, ...]


@dataclass(frozen=True)
class AdminLedgerEntry:
    """A request that matched a fault, or nearly did, and the result. `time`: seconds since 1970.

    A fault that fired has an `effect`, all other entries have a `why`. Of a new connection only the client is known.
    """

    number: int
    time: float
    fault: str
    result: LedgerResult
    client: str
    worker: int
    effect: str | None = None
    why: str | None = None
    match: int | None = None
    client_id: str | None = None
    connection: str | None = None
    broker: int | None = None
    api: str | None = None
    version: int | None = None
    correlation_id: int | None = None


class LedgerPage(NamedTuple):
    """Some entries. `next` is the value of `since` for the next call."""

    entries: tuple[AdminLedgerEntry, ...]
    next: int


@dataclass(frozen=True)
class ClientConnection:
    """A connection of a client. `since`: seconds since 1970."""

    id: str
    listener: str
    broker: int | None
    client: str
    principal: str | None
    client_id: str | None
    since: float


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
        return self._ask("POST", "/faults", _names, faults)

    def replace(self, name: str, fault: FaultJson) -> FaultStatus:
        """Replace the fault of this name."""
        return self._ask("PUT", _path(name), _status, fault)

    def remove(self, name: str) -> FaultStatus:
        """Remove a fault. Returns its last counts."""
        return self._ask("DELETE", _path(name), _status)

    def fault(self, name: str) -> FaultStatus:
        """One fault."""
        return self._ask("GET", _path(name), _status)

    def faults(self) -> FaultStatusList:
        """All faults, those of the file first."""
        return self._ask("GET", "/faults", _statuses)

    def release(self, name: str) -> None:
        """Release all requests and answers that this fault holds."""
        self._ask("POST", f"{_path(name)}/release", _nothing)

    def populate(self, faults: Iterable[FaultJson], seed: int | None = None) -> list[str]:
        """Have exactly these faults, beside those of the file. Faults that are unchanged keep their counts."""
        return self._ask("POST", "/populate", _names, {"seed": seed, "faults": list(faults)})

    def reset(self, seed: int | None = None) -> None:
        """Remove all faults that are not of the file, and begin all counts anew."""
        self._ask("POST", "/reset", _nothing, {"seed": seed})

    def ledger(self, since: int = 0, wait: float = 0.0, limit: int = PAGE) -> LedgerPage:
        """The entries of the ledger after number `since`. `wait`: seconds to wait for a first one."""
        query = urlencode({"since": since, "wait": wait, "limit": limit})
        return self._ask("GET", f"/ledger?{query}", _page, wait=wait)

    def pages(self, since: int = 0) -> Iterator[LedgerPage]:
        """The entries that are there now, page by page. A page that is not full is the last: more may come for ever."""
        page = self.ledger(since)
        yield page
        while len(page.entries) == PAGE:
            page = self.ledger(page.next)
            yield page

    def connections(self) -> list[ClientConnection]:
        """The connections of clients: the first 1,000."""
        return self._ask("GET", "/connections", _connections)

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
            raise AdminError(f"{self._url} does not answer: {error or type(error).__name__}") from None
        try:
            answer = json.loads(content) if content else None
        except ValueError:
            raise AdminError(f"{self._url} is no admin side: its answer is no JSON", status) from None
        if status >= 400:
            raise _refused(answer, status)
        try:
            return read(answer)
        except (KeyError, TypeError):
            raise AdminError(
                f"{self._url} is no admin side of this version: its answer is another one", status
            ) from None


def _names(answer: Any) -> list[str]:
    return [str(name) for name in answer["names"]]


def _status(answer: Any) -> FaultStatus:
    return FaultStatus(**answer)


def _statuses(answer: Any) -> FaultStatusList:
    return FaultStatusList(answer["seed"], answer["resets"], tuple(map(_status, answer["faults"])))


def _page(answer: Any) -> LedgerPage:
    return LedgerPage(tuple(AdminLedgerEntry(**each) for each in answer["entries"]), answer["next"])


def _connections(answer: Any) -> list[ClientConnection]:
    return [ClientConnection(**each) for each in answer["connections"]]


def _nothing(answer: Any) -> None:
    """The answer has no content."""


def _path(name: str) -> str:
    return f"/faults/{quote(name, safe='')}"


def _refused(answer: Any, status: int) -> AdminError:
    said = answer if isinstance(answer, dict) else {}
    listed = said.get("problems")
    problems = [
        (str(it.get("place", "")), str(it.get("message", "")))
        for it in (listed if isinstance(listed, list) else ())
        if isinstance(it, dict)
    ]
    lines = [f"{place}: {message}" if place else message for place, message in problems]
    return AdminError("\n".join(lines) or str(said.get("detail", f"status {status}")), status, problems)
