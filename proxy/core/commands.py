"""Commands: what a link wants done. Only `net` carries them out, in the order given.

Rules:
* `data` of `ToBroker` and `ToClient` may lie in the buffer that was handed to the link: it is sent or copied before
  that buffer is used again.
* After `Close` nothing follows; what was given before it is still sent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from proxy.core.events import Event
from proxy.core.signal import Signal
from proxy.protocol.frame import Buffer


@dataclass(slots=True)
class ToBroker:
    """Send these bytes to the broker."""

    data: Buffer


@dataclass(slots=True)
class ToClient:
    """Send these bytes to the client."""

    data: Buffer


@dataclass(slots=True)
class Close:
    """End both connections. `reason` is None if everything went well, otherwise a line for people.

    `reset`: the client's connection ends by a TCP reset, which may overtake bytes that were sent before it.
    """

    reason: str | None = None
    reset: bool = False


@dataclass(slots=True)
class HalfClose:
    """Shut down the sending side towards the client, behind all bytes sent before. The client may go on sending."""


@dataclass(slots=True)
class Wake:
    """Call `link.wake(token)` after so many seconds; after 0, when the other connections had their turn.

    `unless`: call it at once when this is released.
    """

    token: int
    seconds: float
    unless: Signal | None = field(default=None, compare=False)


@dataclass(slots=True)
class Perform:
    """Call `work` in a thread, then `link.performed(token, ...)` with what it returned or raised.

    `apart`: as `Call` says.
    """

    token: int
    work: Callable[[], Any]
    apart: str = ""


@dataclass(slots=True)
class Await:
    """Call `link.wake(token)` once this is released."""

    token: int
    signal: Signal


@dataclass(slots=True)
class PauseClient:
    """Read nothing from the client until `ResumeClient`."""


@dataclass(slots=True)
class ResumeClient:
    """Read from the client again."""


@dataclass(slots=True)
class PauseBroker:
    """Read nothing from the broker until `ResumeBroker`."""


@dataclass(slots=True)
class ResumeBroker:
    """Read from the broker again."""


@dataclass(slots=True)
class Emit:
    """Report this event."""

    event: Event


Command = (
    ToBroker
    | ToClient
    | Close
    | HalfClose
    | Wake
    | Await
    | Perform
    | PauseClient
    | ResumeClient
    | PauseBroker
    | ResumeBroker
    | Emit
)
