"""Decisions: how a handler answers; and steps: what it may wait for before it does.

A handler is a function that returns a decision, or a generator that yields steps and then returns one:

    @on_request(MetadataRequest)
    def metadata(self, ctx, request):
        yield Sleep(0.1)
        answer = yield Ask(DescribeClusterRequest())
        return Reply(...)

`yield TURN` lets other connections have their turn, as `sleep(0)` does elsewhere. Work that grows with the size of a
message is done in slices with a turn between them (`proxy/protocol/slices.py`, whose generators have a bare `yield`
for it).

None as a decision means: I have nothing to change. If no handler changes anything, the original bytes go on, even if
a handler modified the message object.

`Raw`, `Cut` and `Drip` say how a frame leaves, not what it says. They are for faults, and one frame may have several.
A decision or step with a wrong value raises TypeError where it is made: at the line of the handler.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from math import isnan
from typing import Any

from proxy.core.signal import Signal
from proxy.protocol.schema import Message, Request, Response


class How(Enum):
    """How a client's connection ends."""

    CLOSE = "close"  # older answers leave first
    RESET = "reset"  # at once, by a TCP reset
    HALF_CLOSE = "half close"  # older answers leave first; the client is told the end and may go on sending
    BLACK_HOLE = "black hole"  # at once: nothing is answered, and what comes is thrown away, until the client closes


@dataclass(frozen=True, slots=True)
class Forward:
    """Send this message on in place of the one that came.

    `repeats` is for responses: the handler decided by the message and the topology alone, so that it need not see
    another response with the same values in the fields that it wants (`repeated.py`).

    The other options are for requests. `end`: the connection ends after it, for this reason. `version`: the broker gets
    the request in this version; its answer is read in that version and written in the client's. A value that a version
    cannot express is an error (`protocol/losses.py`). `copies`: how many times the request is sent; the answers to all
    but the first are dropped.
    """

    message: Message
    end: str | None = None
    version: int | None = None
    copies: int = 1
    repeats: bool = False

    def __post_init__(self) -> None:
        if self.version is not None and not isinstance(self.version, int):
            raise TypeError(f"Forward: {self.version!r} is no version")


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the request here; the broker never sees it.

    `version`: of the answer, if it is not the request's. `end`: the connection ends after it, for this reason.
    """

    message: Response
    version: int | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Disconnect:
    """End the connection. `reason` is a line for people."""

    reason: str
    how: How = How.CLOSE

    def __post_init__(self) -> None:
        _check_how(self)


@dataclass(frozen=True, slots=True)
class Raw:
    """Send these bytes in place of the frame, whatever they are; b"" drops it. No other handler sees the message.

    A function is given the whole frame as it would leave, after all other handlers, and returns the bytes. So it sees
    an answer after addresses were rewritten. In bytes that are given directly, addresses are not rewritten.
    """

    data: bytes | Callable[[bytes], bytes]

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes) and not callable(self.data):
            raise TypeError(f"Raw: {self.data!r} is neither bytes nor a function")


@dataclass(frozen=True, slots=True)
class Cut:
    """Send so many bytes of the frame as it would leave, and end the connection in the middle of it."""

    after: int
    reason: str
    how: How = How.CLOSE

    def __post_init__(self) -> None:
        if not isinstance(self.after, int):
            raise TypeError(f"Cut: {self.after!r} is no number of bytes")
        _check_how(self)


@dataclass(frozen=True, slots=True)
class Drip:
    """Send the frame as it would leave in pieces of `size` bytes, one every so many seconds."""

    size: int
    seconds: float

    def __post_init__(self) -> None:
        if not isinstance(self.size, int):
            raise TypeError(f"Drip: {self.size!r} is no number of bytes")
        _check_seconds(self)


@dataclass(frozen=True, slots=True)
class Sleep:
    """Go on after so many seconds, or as soon as `unless` is released."""

    seconds: float
    unless: Signal | None = None

    def __post_init__(self) -> None:
        _check_seconds(self)
        if self.unless is not None and not isinstance(self.unless, Signal):
            raise TypeError(f"Sleep: {self.unless!r} is no Signal")


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the broker of this link, and go on with its answer. Without `version`: the newest that both know."""

    request: Request
    version: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.request, Request):
            raise TypeError(f"Ask: {self.request!r} is no request")


@dataclass(frozen=True, slots=True)
class Call:
    """Call `work` in a thread, where it may wait for a disk, and go on with what it returns or raises.

    State that it shares with handlers must change in one step. `apart`: it computes for long, and this names what.
    Calls of one name run one at a time, in a thread for which nothing else waits, with the clients' addresses in turn.
    """

    work: Callable[[], Any]
    apart: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on when this is released."""

    signal: Signal

    def __post_init__(self) -> None:
        if not isinstance(self.signal, Signal):
            raise TypeError(f"Wait: {self.signal!r} is no Signal")


@dataclass(frozen=True, slots=True)
class Alone:
    """Go on when no request of the client is under way, and let none begin before `gate.leave()`.

    For steps that run beside the conversation; a handler is alone anyway.
    """


def _check_how(decision: Disconnect | Cut) -> None:
    if not isinstance(decision.how, How):
        raise TypeError(f"{type(decision).__name__}: {decision.how!r} is no How")


def _check_seconds(timed: Drip | Sleep) -> None:
    # trio takes no NaN for a time: the whole worker would end.
    if not isinstance(timed.seconds, (int, float)) or isnan(timed.seconds):
        raise TypeError(f"{type(timed).__name__}: {timed.seconds!r} is no number of seconds")


TURN = None
Decision = Forward | Reply | Raw | Cut | Drip | Disconnect | None
Step = Sleep | Ask | Call | Wait | Alone | None
Steps = Generator[Step, Any, Decision]
