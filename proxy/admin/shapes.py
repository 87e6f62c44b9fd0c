"""Shapes: what the admin side is sent and what it answers, declared once for the OpenAPI document and for its tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HttpShape(BaseModel):
    """A JSON object with these values and no others."""

    model_config = ConfigDict(extra="forbid")


class FaultBody(HttpShape):
    """A fault, as it stands in a file of faults: `plugins/faults/README.md` says what may stand in it."""

    name: str | None = Field(default=None, description="The name of the fault; without it, the proxy makes one.")
    match: dict[str, Any] = Field(
        default={}, description="The requests or connections that it applies to; without it, all."
    )
    when: dict[str, Any] = Field(default={}, description="When it fires; without it, always.")
    do: dict[str, Any] | str = Field(description="The effect, with or without its options.")


class PopulateBody(HttpShape):
    """Exactly these are the faults at run time."""

    seed: int | None = Field(
        default=None, description="The seed of the random numbers; without it, the present one stays."
    )
    faults: list[FaultBody] = Field(
        default=[], description="The faults. One that is in force already keeps its counts."
    )


class ResetBody(HttpShape):
    """Nothing stays."""

    seed: int | None = Field(default=None, description="The seed of the random numbers; without it, that of the file.")


class FaultAnswer(HttpShape):
    """A fault that is in force. Numbers are over all workers."""

    name: str
    source: Literal["file", "api"] = Field(
        description="Where it comes from: a fault of the file is changed in the file only."
    )
    fault: dict[str, Any]
    matched: int = Field(description="How many requests matched, whether it fired or not.")
    fired: int
    ends: float | None = Field(description="When its window (`for`) is over, in seconds since 1970; null: it has none.")


class FaultsAnswer(HttpShape):
    """All faults, in the order in which they are tried; of those of the file the first 1,000."""

    seed: int
    resets: int = Field(
        description="How often all faults were reset. If the number changes, another client has reset them."
    )
    faults: list[FaultAnswer]


class NamesAnswer(HttpShape):
    """The faults that were sent, by their names."""

    names: list[str]


class EntryAnswer(HttpShape):
    """What became of a request that matched a fault, or nearly; of a new connection there is no request."""

    number: int
    time: float = Field(description="Seconds since 1970.")
    fault: str
    result: Literal["fired", "not_now", "cannot", "near_miss"]
    effect: str | None = Field(default=None, description="The effect, if it fired.")
    why: str | None = Field(default=None, description="Why it did not fire, if it did not.")
    match: int | None = Field(description="The number of this match of the fault.")
    client: str
    client_id: str | None
    connection: str | None = Field(description="The id of the connection in `/connections`.")
    broker: int | None
    api: str | None
    version: int | None
    correlation_id: int | None
    worker: int


class LedgerAnswer(HttpShape):
    """Entries, and what to say for `since` the next time."""

    entries: list[EntryAnswer]
    next: int


class ConnectionAnswer(HttpShape):
    """A connection of a client."""

    id: str
    listener: str
    broker: int | None = Field(description="The node id of the broker behind it; null on the bootstrap port.")
    client: str
    principal: str | None
    client_id: str | None
    since: float = Field(description="Seconds since 1970.")


class ConnectionsAnswer(HttpShape):
    """Some connections, and how many there are."""

    total: int
    connections: list[ConnectionAnswer]


class WorkerAnswer(HttpShape):
    """What one worker says."""

    ready: bool
    listening: dict[str, dict[str, int]] = Field(description="Ports of brokers, by listeners and node ids.")
    clusters: dict[str, dict[str, str]] = Field(description="Addresses of brokers, by clusters and node ids.")


class HealthAnswer(HttpShape):
    """Whether every worker listens, and knows the brokers behind its listeners."""

    status: Literal["ready", "not ready"]
    workers: dict[str, WorkerAnswer]


class WrongValue(HttpShape):
    """One thing that is wrong in what was sent."""

    place: str = Field(description="The path of the value: faults[2].do.error")
    message: str


class ProblemAnswer(HttpShape):
    """Why there is no other answer (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    problems: list[WrongValue]
