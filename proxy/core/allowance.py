"""Allowance: how many large messages are read and judged at a time, on all links of a worker together.

A message of many elements takes many times its bytes once it is read. If every such message began at once, twenty
clients would take twenty times the memory, and none of them would be served sooner.

Rules:
* Messages of about the same size share `ALLOWED` bytes; a message larger than that has them alone. The others wait,
  and their connections are not read meanwhile.
* Each host of clients has a queue for its requests and a queue for its responses. So many connections of one host do
  not keep the others waiting, and requests do not keep responses waiting: a response frees what was kept for its
  request. Each queue is served in its order, and all queues in turn.
* "About the same" is a factor of eight: a small message never waits for a large one.
* A permit is for the proxy's own work. It is given up when a handler waits for time, a broker, a disk or a signal, and
  not taken again. So no holder of a permit waits for others, and the queues always move.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator
from typing import Any, TypeVar

from proxy.core.decisions import TURN, Step, Wait
from proxy.core.driving import StepDriver
from proxy.core.signal import Signal
from proxy.core.turn import WaitingLanes

ALLOWED = 512 << 10  # bytes; 40,000 names, which take 20 MiB when they are read
FACTOR = 3  # bits of a size: a factor of eight

R = TypeVar("R")
QueueKey = tuple[str, bool]  # the client's host, and whether it is a response


class Permit:
    """A permit for one message of so many bytes, which waits in `line`. `given`: released when it may be read."""

    __slots__ = ("given", "line", "size")

    def __init__(self, size: int, line: QueueKey) -> None:
        self.size = size
        self.line = line
        self.given = Signal()


class Permits:
    """The messages of about the same size that have a permit, and those that wait for one."""

    def __init__(self) -> None:
        self._given: set[Permit] = set()
        self._taken = 0  # bytes
        self._lines: dict[QueueKey, deque[Permit]] = {}  # in the order in which they have their turn; none is empty

    def ask(self, size: int, line: QueueKey) -> Permit:
        """The permit of one more message: it is given now, or once there is room."""
        permit = Permit(size, line)
        self._lines.setdefault(line, deque()).append(permit)
        self._give()
        return permit

    def give_up(self, permit: Permit) -> None:
        """This message needs no permit any more. It may have given it up before."""
        if permit in self._given:
            self._given.remove(permit)
            self._taken -= permit.size
            self._give()
        elif not permit.given.is_released:
            line = self._lines[permit.line]
            line.remove(permit)
            if not line:
                del self._lines[permit.line]

    def _give(self) -> None:
        while self._lines:
            key, line = next(iter(self._lines.items()))
            permit = line[0]
            if self._given and self._taken + permit.size > ALLOWED:
                return
            del self._lines[key]
            line.popleft()
            if line:
                self._lines[key] = line  # behind all others
            self._given.add(permit)
            self._taken += permit.size
            permit.given.release()


class Allowance:
    """The allowance of one worker. `lanes`: those that share it for small messages (`turn.py`)."""

    def __init__(self) -> None:
        self.lanes = WaitingLanes()
        self._sizes: defaultdict[int, Permits] = defaultdict(Permits)

    def within(
        self, size: int, steps: Generator[Step, Any, R], host: str, *, is_response: bool
    ) -> Generator[Step, Any, R]:
        """The steps for a message of this size of a client at this host, once there is a permit for it."""
        permits = self._sizes[size.bit_length() // FACTOR]
        permit = permits.ask(size, (host, is_response))
        driver = StepDriver(steps)
        try:
            if not permit.given.is_released:
                yield Wait(permit.given)
            while driver.advance():
                if driver.step is not TURN:
                    permits.give_up(permit)
                yield from driver.hand_on()
            return driver.result
        finally:
            steps.close()
            permits.give_up(permit)
