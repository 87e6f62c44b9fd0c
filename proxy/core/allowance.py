"""Allowance: how many large messages are read and judged at a time, on all links of a worker together.

A message of many elements takes many times its bytes once it is read. If every such message began at once, twenty
clients would take twenty times the memory, and none of them would be served sooner.

Rules:
* Messages of about the same size share `ALLOWED` bytes; a message larger than that has them alone. The others wait in
  two queues, one for requests and one for responses, and their connections are not read meanwhile.
* Each queue is served in its order, and both in turn: a response frees what was kept for its request.
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


class Permit:
    """A permit for one message of so many bytes; `given` is released when the message may be read."""

    __slots__ = ("given", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.given = Signal()


class Permits:
    """The messages of about the same size that have a permit, and those that wait for one."""

    def __init__(self) -> None:
        self._given: set[Permit] = set()
        self._taken = 0  # bytes
        self._next: deque[Permit] = deque()  # the queue whose turn it is
        self._other: deque[Permit] = deque()
        self._requests, self._responses = self._next, self._other

    def ask(self, size: int, *, is_response: bool) -> Permit:
        """The permit of one more message: it is given now, or once there is room."""
        permit = Permit(size)
        (self._responses if is_response else self._requests).append(permit)
        self._give()
        return permit

    def give_up(self, permit: Permit) -> None:
        """This message needs no permit any more. It may have given it up before."""
        if permit in self._given:
            self._given.remove(permit)
            self._taken -= permit.size
            self._give()
        elif not permit.given.is_released:
            (self._requests if permit in self._requests else self._responses).remove(permit)

    def _give(self) -> None:
        while line := self._next or self._other:
            permit = line[0]
            if self._given and self._taken + permit.size > ALLOWED:
                return
            line.popleft()
            self._next, self._other = (self._other, line) if line is self._next else (self._next, line)
            self._given.add(permit)
            self._taken += permit.size
            permit.given.release()


class Allowance:
    """The allowance of one worker. `lanes`: those that share it for small messages (`turn.py`)."""

    def __init__(self) -> None:
        self.lanes = WaitingLanes()
        self._sizes: defaultdict[int, Permits] = defaultdict(Permits)

    def within(self, size: int, steps: Generator[Step, Any, R], *, is_response: bool) -> Generator[Step, Any, R]:
        """The steps for a message of this size, once there is a permit for it."""
        permits = self._sizes[size.bit_length() // FACTOR]
        permit = permits.ask(size, is_response=is_response)
        driver = StepDriver(steps)
        try:
            if not permit.given.is_released:
                yield Wait(permit.given)
            while driver.advance():
                if driver.step is not TURN:
                    permits.give_up(permit)
                try:
                    driver.give((yield driver.step))
                except Exception as error:
                    driver.throw(error)
            return driver.result
        finally:
            steps.close()
            permits.give_up(permit)
