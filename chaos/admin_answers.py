"""What the admin API answers: faults and their counts, the ledger, connections, and refusals.

Rules:
* Values are read as the admin API of this version gives them. An answer of another shape raises KeyError or TypeError.
* A refusal may have any shape: fields that cannot be read are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

FaultJson = Mapping[str, Any]  # as in a file of faults: name, match, when, do
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


def names(answer: Any) -> list[str]:
    """The names of faults that were added."""
    return [str(name) for name in answer["names"]]


def fault_status(answer: Any) -> FaultStatus:
    """One fault."""
    return FaultStatus(**answer)


def fault_statuses(answer: Any) -> FaultStatusList:
    """All faults."""
    return FaultStatusList(answer["seed"], answer["resets"], tuple(map(fault_status, answer["faults"])))


def ledger_page(answer: Any) -> LedgerPage:
    """Entries of the ledger."""
    return LedgerPage(tuple(AdminLedgerEntry(**each) for each in answer["entries"]), answer["next"])


def client_connections(answer: Any) -> list[ClientConnection]:
    """Connections of clients."""
    return [ClientConnection(**each) for each in answer["connections"]]


def nothing(answer: Any) -> None:
    """The answer has no content."""


def refused(answer: Any, status: int) -> AdminError:
    """The problems of a request that was refused with this status."""
    said = answer if isinstance(answer, dict) else {}
    listed = said.get("problems")
    problems = [
        (str(it.get("place", "")), str(it.get("message", "")))
        for it in (listed if isinstance(listed, list) else ())
        if isinstance(it, dict)
    ]
    lines = [f"{place}: {message}" if place else message for place, message in problems]
    return AdminError("\n".join(lines) or str(said.get("detail", f"status {status}")), status, problems)
