"""Shapes: what the admin side is sent and what it answers, declared once for the OpenAPI document and for its tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HttpShape(BaseModel):
    """A JSON object with these values and no others."""

    model_config = ConfigDict(extra="forbid")


class FaultBody(HttpShape):
    """A fault, as it stands in a file of faults: `plugins/faults/README.md` says what may stand in it."""

    name: str | None = Field(default=None, description="What it is called; without it, it is given a name.")
    match: dict[str, Any] = Field(default={}, description="Of which requests or connections; without it, of all.")
    when: dict[str, Any] = Field(default={}, description="When it fires; without it, always.")
    do: dict[str, Any] | str = Field(description="What happens: one effect, with or without its options.")


class PopulateBody(HttpShape):
    """Exactly these are the faults at run time."""

    seed: int | None = Field(default=None, description="What chance goes by; without it, the present one stays.")
    faults: list[FaultBody] = Field(default=[], description="Those that stay as they are go on counting.")


class ResetBody(HttpShape):
    """Nothing stays."""

    seed: int | None = Field(default=None, description="What chance goes by; without it, what the file says.")


class FaultAnswer(HttpShape):
    """A fault that is in force. Numbers are over all workers."""

    name: str
    source: Literal["file", "api"] = Field(description="Those of the file are changed there.")
    fault: dict[str, Any]
    matched: int = Field(description="Requests that it was about, whether it fired or not.")
    fired: int
    ends: float | None = Field(description="When its window (`for`) is over, in seconds since 1970; null: it has none.")


class FaultsAnswer(HttpShape):
    """All faults, in the order in which they are tried; of those of the file the first 1,000."""

    seed: int
    resets: int = Field(description="How often all counts began anew. Who sees another number was disturbed by others.")
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
    effect: str | None = Field(default=None, description="Of one that fired.")
    why: str | None = Field(default=None, description="Of one that did not.")
    match: int | None = Field(description="Its number among the matches that counted.")
    client: str
    client_id: str | None
    connection: str | None = Field(description="As `/connections` has it.")
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
    broker: int | None = Field(description="null: where clients begin.")
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
