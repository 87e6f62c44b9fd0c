"""Outbox: the commands of one link. Every command is made here.

Rules:
* Each call of the link returns the commands that it led to; none is returned twice.
* After `close` no command is made any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from proxy.core.commands import (
    Await,
    Close,
    Command,
    Emit,
    HalfClose,
    PauseBroker,
    PauseClient,
    Perform,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.events import Event
from proxy.core.signal import Signal
from proxy.protocol.frame import Buffer


class Outbox:
    """The commands of one link. `closed`: `Close` is among them. `amid_request`: only a part of a request has left."""

    __slots__ = ("amid_request", "closed", "commands")

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.amid_request = False
        self.closed = False

    def start(self) -> list[Command]:
        """Begin a new list of commands, and return it."""
        self.commands = []
        return self.commands

    def to_broker(self, spans: Iterable[Buffer]) -> None:
        """Send these to the broker."""
        self.commands += map(ToBroker, spans)

    def part_to_broker(self, spans: Iterable[Buffer]) -> None:
        """Send a part of a request that waits. Nothing else may go to the broker before the rest of it."""
        self.amid_request = True
        self.to_broker(spans)

    def to_client(self, spans: Iterable[Buffer]) -> None:
        """Send these to the client."""
        self.commands += map(ToClient, spans)

    def emit(self, event: Event) -> None:
        """Report this event."""
        self.commands.append(Emit(event))

    def wake(self, token: int, seconds: float, unless: Signal | None = None) -> None:
        """Have the waiter with this token go on after so many seconds, or when the signal is released."""
        self.commands.append(Wake(token, seconds, unless))

    def perform(self, token: int, work: Callable[[], Any], apart: str = "") -> None:
        """Have this done in a thread; then the waiter with this token goes on."""
        self.commands.append(Perform(token, work, apart))

    def wait(self, token: int, signal: Signal) -> None:
        """Have the waiter with this token go on once this is released."""
        self.commands.append(Await(token, signal))

    def read_client(self, on: bool) -> None:
        """Read from the client, or read nothing from it for now."""
        self.commands.append(ResumeClient() if on else PauseClient())

    def read_broker(self, on: bool) -> None:
        """Read from the broker, or read nothing from it for now."""
        self.commands.append(ResumeBroker() if on else PauseBroker())

    def half_close(self) -> None:
        """Send the client nothing more."""
        self.commands.append(HalfClose())

    def close(self, reason: str | None, *, reset: bool = False) -> None:
        """End both connections."""
        self.closed = True
        self.commands.append(Close(reason, reset))
