"""Decisions: how a handler answers; and steps: what it may wait for before it does.

A handler is a function that returns a decision, or a generator that yields steps and then returns one:

    @on_request(MetadataRequest)
    def metadata(self, ctx, request):
        yield Sleep(0.1)
        answer = yield Ask(DescribeClusterRequest())
        return Reply(...)

`yield TURN` lets other connections have their turn: work that grows with what was sent is done in slices between such
(`proxy/protocol/slices.py`, whose generators have a bare `yield` for it). It is what `sleep(0)` does elsewhere.

None as a decision means: I have nothing to change. If nobody has, the original bytes go on, whatever was done to the
message.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from proxy.protocol.schema import Message, Request, Response


@dataclass(frozen=True, slots=True)
class Forward:
    """Send this message on in place of the one that came. `end`: of a request, after it the connection ends."""

    message: Message
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the request here; the broker never sees it.

    `version`: of the answer, where it is not the request's. `end`: after it the connection ends, for this reason.
    """

    message: Response
    version: int | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Disconnect:
    """End the connection. `reason` is a line for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sleep:
    """Go on after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the broker of this link, and go on with its answer. Without `version`: the newest that both know."""

    request: Request
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Have this called where it may wait for a disk, and go on with what it returns, or with what it raises.

    It runs in a thread: what it shares with handlers it must change in one step.
    """

    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Alone:
    """Go on when no request of the client is under way, and let none begin before `gate.leave()`.

    For what goes on beside the conversation; a handler is alone anyway.
    """


TURN = None
Decision = Forward | Reply | Disconnect | None
Step = Sleep | Ask | Call | Alone | None
Steps = Generator[Step, Any, Decision]
