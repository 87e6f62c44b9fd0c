"""Allowance: how much of what is large is read and judged at a time, on all links of a worker together.

A message of many elements takes many times its bytes once it is read. Where every such message begins at once, twenty
clients take twenty times the memory, and none of them gets on sooner.

Rules:
* Messages of about the same size share `ALLOWED` bytes; one that is larger than that is alone among them. The others
  wait in two lines, one for requests and one for responses, and their connections are not read meanwhile.
* Each line is served in its order, and both in turn: with its response a request lets go of what was kept for it.
* "About the same" is a factor of eight: what is small never waits for what is large.
* A permit is for what the proxy does itself. It is given up where a handler waits for time, a broker, a disk or a
  signal, and not taken again. So nobody who has a permit waits for others, and the lines always move.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator
from typing import Any, TypeVar

from proxy.core.decisions import TURN, Step, Wait
from proxy.core.driving import StepDriver
from proxy.core.signal import Signal

ALLOWED = 512 << 10  # bytes; 40,000 names, which take 20 MiB when they are read
FACTOR = 3  # bits of a size: a factor of eight

R = TypeVar("R")


class Permit:
    """A permit for one message of so many bytes; `given` is released when it may be read."""

    __slots__ = ("given", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.given = Signal()


class Permits:
    """The messages of about one size: those that have a permit, and those that wait for one."""

    def __init__(self) -> None:
        self._given: set[Permit] = set()
        self._taken = 0  # bytes
        self._next: deque[Permit] = deque()  # the line whose turn it is
        self._other: deque[Permit] = deque()
        self._requests, self._responses = self._next, self._other

    def ask(self, size: int, *, is_response: bool) -> Permit:
        """One more message: it has its permit, or waits for it."""
        permit = Permit(size)
        (self._responses if is_response else self._requests).append(permit)
        self._give()
        return permit

    def give_up(self, permit: Permit) -> None:
        """This message needs no permit any more, if it did."""
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
    """The allowance of one worker."""

    def __init__(self) -> None:
        self._sizes: defaultdict[int, Permits] = defaultdict(Permits)

    def within(self, size: int, steps: Generator[Step, Any, R], *, is_response: bool) -> Generator[Step, Any, R]:
        """What is done with a message of this size, once there is a permit for it."""
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
