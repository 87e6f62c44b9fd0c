"""Long calls: calls that compute for long wait here, and a thread makes one at a time, with the addresses in turn.

Rules:
* The addresses of clients have their turns, and within an address its links have. So a client waits for at most one
  call of each other address, however many connections that one has.
* A link that is over takes its calls along. Only the call that is being made is finished.
* A lane waits for its call, and so makes one at a time: `limits.connections` bounds how many calls wait.
* The thread makes calls until none waits, without asking the loop: that may be busy for 5 ms each time.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

L = TypeVar("L")  # a link

Make = Callable[[], None]


class LongCalls(Generic[L]):
    """The calls of one name. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, OrderedDict[L, deque[Make]]] = OrderedDict()
        self._made = False  # a thread makes them, or will soon
        self._lock = Lock()

    def add(self, address: str, link: L, make: Make) -> bool:
        """One more call, for a client at this address. True: `make_all` must be called in a thread."""
        with self._lock:
            self._waiting.setdefault(address, OrderedDict()).setdefault(link, deque()).append(make)
            began, self._made = not self._made, True
            return began

    def make_all(self) -> None:
        """Make calls until none waits."""
        while (make := self._take()) is not None:
            make()

    def forget(self, address: str, link: L) -> None:
        """Drop the calls of a link that is over."""
        with self._lock:
            links = self._waiting.get(address)
            if links is not None and links.pop(link, None) is not None and not links:
                del self._waiting[address]

    def clear(self) -> None:
        """Drop all calls."""
        with self._lock:
            self._waiting.clear()

    def _take(self) -> Make | None:
        with self._lock:
            if not self._waiting:
                self._made = False
                return None
            address, links = self._waiting.popitem(last=False)
            link, calls = links.popitem(last=False)
            make = calls.popleft()
            if calls:
                links[link] = calls
            if links:
                self._waiting[address] = links
            return make
