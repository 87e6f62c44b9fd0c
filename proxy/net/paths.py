"""Paths: the ways to the brokers of one cluster, and whether they lead back to this proxy.

A loop over other machines shows only when something comes back (`loops.py`). So the proxy sends a question of its own
through an address before it trusts that address. It asks again during use, since an address may become a loop later.

Rules:
* Until an address has answered, only a few connections go ahead. In a loop, one of them is the question coming round.
  All others wait for the answer, as long as dialling may take.
* After that, it is asked again in the background every 50 connections. Clients wait again only after 1,000 connections
  without an answer.
* An address that leads back is not dialled for half a minute. Links that are already part of the loop end with it: the
  last one is refused, which ends the one before it, and so on.
* Any other answer means that there is no loop. So does silence or a closed connection, as from brokers before 0.10. But
  brokers to which the proxy authenticates are never that old. There silence proves nothing: a loop may be silent until
  it has grown.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable

import trio

from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError
from proxy.net.loops import LoopError

AHEAD = 8  # connections to an address that has not answered yet
ASK_EVERY = 50  # connections
WAIT_AFTER = 1_000  # connections since the last answer
REFUSED_FOR = 30.0  # seconds
MOST = 5_000  # addresses that are remembered

AskLoop = Callable[[Endpoint], Awaitable[object]]
Start = Callable[[Callable[[], Awaitable[None]]], None]


class Path:
    """The path to one address."""

    def __init__(self) -> None:
        self.answered = False
        self.dialled = 0  # connections since the last question
        self.asking: Question | None = None
        self.loop: LoopError | None = None
        self.refused_until = float("-inf")


class Question:
    """A question under way, and its result."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.failed: UnreachableError | None = None


class Paths:
    """The paths of one cluster. `ask` sends a question, or raises UnreachableError. `start` runs that meanwhile."""

    def __init__(self, ask: AskLoop, start: Start) -> None:
        self._ask = ask
        self._start = start
        self._paths: OrderedDict[Endpoint, Path] = OrderedDict()  # in the order of last use

    async def admit(self, endpoint: Endpoint, until: float = math.inf) -> None:
        """Return when a client may be brought there.

        Raises UnreachableError; LoopError where it leads back; TooSlowError if that is not known at `until`.
        """
        path = self._path(endpoint)
        while True:
            if trio.current_time() < path.refused_until:
                assert path.loop is not None
                raise LoopError(endpoint, path.loop.why)
            if path.asking is None and (not path.answered or path.dialled >= ASK_EVERY):
                self._begin(endpoint, path)
            question = path.asking
            if question is None or path.dialled < (WAIT_AFTER if path.answered else AHEAD):
                path.dialled += 1
                return
            with trio.fail_at(until):
                await question.done.wait()
            if question.failed is not None:
                raise type(question.failed)(endpoint, question.failed.why, stalled=question.failed.stalled)

    def look(self, endpoint: Endpoint) -> None:
        """Ask through a new address before anybody is connected to it."""
        if endpoint not in self._paths:
            self._begin(endpoint, self._path(endpoint))

    def _path(self, endpoint: Endpoint) -> Path:
        path = self._paths.setdefault(endpoint, Path())
        self._paths.move_to_end(endpoint)
        if len(self._paths) > MOST:
            self._paths.popitem(last=False)
        return path

    def _begin(self, endpoint: Endpoint, path: Path) -> None:
        question = path.asking = Question()
        path.dialled = 0

        async def ask() -> None:
            try:
                await self._ask(endpoint)
                path.answered = True
            except UnreachableError as error:
                question.failed = error
                if isinstance(error, LoopError):
                    path.answered, path.loop = False, error
                    path.refused_until = trio.current_time() + REFUSED_FOR
            finally:
                path.asking, path.dialled = None, 0
                question.done.set()

        self._start(ask)
