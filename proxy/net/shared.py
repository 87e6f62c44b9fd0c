"""Shared: what all conversations of a reactor have in common, and the ways in which they report to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from proxy.core.events import Event
from proxy.net.budget import Budget
from proxy.net.read_buffer import ReadBuffer
from proxy.net.resuming import Resuming
from proxy.net.side import Again

C = TypeVar("C")  # the class of conversations


@dataclass
class Shared(Generic[C]):
    """What all conversations of a reactor share. `again`: sides with more to read for which no event will come.

    `emit` takes events. `leaves` is called with a conversation that is over, `over` when its sockets are closed too.
    `turn`: seconds for which one side may be read, after its first read.
    """

    buffer: ReadBuffer
    budget: Budget
    resuming: Resuming
    again: Again
    emit: Callable[[C, Event], None]
    leaves: Callable[[C], None]
    over: Callable[[C], None]
    turn: float = 0.0
