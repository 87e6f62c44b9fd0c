"""Fibers: a plain function that can be stopped in the middle, so that what handlers do is done in slices too.

Handlers loop over elements in many places, in comprehensions and in what they call. None of that need be a generator:
what every such loop calls says `turn()`, and in a fiber this lets the others go on once it was said often enough.

# A fiber has a thread, but never runs beside anything: whoever resumes it waits until it stops or ends. So it needs no
# locks, and what it sees changes only while it is stopped, as with a generator.
# What belongs to the thread of whoever resumes it, as trio does, is called there: `outside(work)`.
# Outside of a fiber `turn()` does nothing. Small messages need no fiber: switching takes 50 us.
# A fiber that is dropped ends where it stopped: `Dropped` is raised there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from proxy.protocol.slices import ELEMENTS, Sliced

IDLE = 8  # threads that are kept for the next fiber
MOST = 200  # fibers at a time; one more waits until another ends

T = TypeVar("T")


class Dropped(BaseException):
    """Nobody waits for what this fiber does."""


class _Thread:
    """Runs one function after the other, always only while `resume()` waits for it."""

    def __init__(self) -> None:
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._left = 0
        self._dropped = False
        self._work: Callable[[], Any] | None = None
        self._errand: Callable[[], Any] | None = None
        self.value: Any = None
        self.error: BaseException | None = None
        threading.Thread(target=self._serve, name="fiber", daemon=True).start()

    def begin(self, work: Callable[[], Any]) -> None:
        """Do this when it is resumed."""
        self._work, self._dropped = work, False

    @property
    def is_done(self) -> bool:
        return self._work is None

    def resume(self) -> None:
        """Let it run until it stops or ends."""
        global _running
        before, _running = _running, self
        self._left = ELEMENTS
        try:
            self._go.release()
            self._back.acquire()
        finally:
            _running = before

    def turn(self) -> None:
        """Stop, unless there is something left of this slice."""
        self._left -= 1
        if self._left <= 0:
            self.stop()

    def send(self, errand: Callable[[], Any]) -> Any:
        """Have whoever resumed it call this, and go on with what it gives or raises."""
        self._errand = errand
        self.stop()
        value, error = self.value, self.error
        self.value = self.error = None
        if error is not None:
            raise error
        return value

    def run_errand(self) -> bool:
        """Call what it stopped for. False: it stopped for nothing."""
        errand, self._errand = self._errand, None
        if errand is None:
            return False
        try:
            self.value = outside(errand)  # fibers may be begun in fibers
        except Exception as error:
            self.error = error
        return True

    def stop(self) -> None:
        """Let whoever resumed it go on."""
        self._back.release()
        self._go.acquire()
        if self._dropped:
            raise Dropped

    def drop(self) -> None:
        """End what it is in the middle of."""
        self._dropped = True
        self.resume()

    def end(self) -> None:
        """Do nothing any more."""
        self._go.release()

    def _serve(self) -> None:
        while True:
            self._go.acquire()
            if self._work is None:
                return
            try:
                self.value = self._work()
            except BaseException as error:
                self.error = error
            self._work = None
            self._back.release()


_running: _Thread | None = None
_idle: list[_Thread] = []
_count = 0  # of fibers that have begun and not ended


def turn() -> None:
    """One more element: in a fiber the others have their turn after some of these."""
    if _running is not None:
        _running.turn()


def turns(elements: Iterable[T]) -> Iterator[T]:
    """These, with a `turn()` for each."""
    for element in elements:
        turn()
        yield element


def outside(work: Callable[[], T]) -> T:
    """Call this in the thread that is not the fiber's."""
    if _running is None:
        return work()
    value: T = _running.send(work)
    return value


def at_once(work: Sliced[T]) -> T:
    """What this gives, for those who cannot wait for it in slices. In a fiber the others have their turn even so."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: T = end.value
            return value
        if _running is not None:
            _running.stop()


def in_slices(work: Callable[..., T], *arguments: Any) -> Sliced[T]:
    """Call this in a fiber."""
    global _count
    while _count >= MOST:
        yield
    thread = _idle.pop() if _idle else _Thread()
    _count += 1
    thread.begin(lambda: work(*arguments))
    try:
        thread.resume()
        while not thread.is_done:
            if not thread.run_errand():
                yield
            thread.resume()
        value, error = thread.value, thread.error
    finally:
        while not thread.is_done:
            thread.drop()
        thread.value = thread.error = None
        _count -= 1
        if len(_idle) < IDLE:
            _idle.append(thread)
        else:
            thread.end()
    if error is not None:
        try:
            raise error
        finally:
            del error, thread  # its traceback has this frame
    return value  # type: ignore[no-any-return]
