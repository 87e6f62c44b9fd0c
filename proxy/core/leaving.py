"""Leaving: how a frame leaves if a handler does not want it to leave whole and at once.

Rules:
* First the functions of `Raw` change the bytes, in the order of the handlers; then the frame is copied, cut and sent
  piece by piece. The first `Cut` counts, and the first `Drip`.
* Pieces that drip leave while the frame waits; the last piece leaves with the verdict. So nothing else cuts in.
* A function that raises, or returns no bytes, fails as a handler does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from proxy.core.decisions import Cut, Drip, Raw, Sleep, Step
from proxy.core.failure import FAILURES, name_of
from proxy.core.handling import Manner
from proxy.core.steps import HandlerError
from proxy.protocol.frame import Buffer

Send = Callable[[Sequence[Buffer]], None]


class Leaving:
    """A frame on its way out, once or in copies. `data` leaves after `steps`; if it was cut, `cut` says how.

    `size`: bytes that leave in all.
    """

    def __init__(self, frame: Sequence[Buffer], manners: Sequence[Manner], copies: int = 1) -> None:
        """Raises HandlerError."""
        data = b"".join(frame)
        self.is_intact = all(isinstance(manner, Drip) for manner in manners)  # the bytes are those of the message
        for manner in manners:
            if isinstance(manner, Raw):
                data = _replaced(data, manner)
        self.cut = next((manner for manner in manners if isinstance(manner, Cut)), None)
        self.data: Buffer = (data * copies)[: None if self.cut is None else max(self.cut.after, 0)]
        self.size = len(self.data)
        self._drip = next((manner for manner in manners if isinstance(manner, Drip)), None)

    @property
    def takes_time(self) -> bool:
        """Are there steps to be taken?"""
        return self._drip is not None

    def steps(self, send: Send) -> Generator[Step, None, None]:
        """Send all but the last piece, one after the other."""
        if self._drip is None:
            return
        size, pause = max(self._drip.size, 1), Sleep(self._drip.seconds)
        yield pause
        while len(self.data) > size:
            piece = memoryview(self.data)
            self.data = piece[size:]
            send([piece[:size]])
            yield pause


def _replaced(frame: bytes, raw: Raw) -> bytes:
    if not callable(raw.data):
        return raw.data
    try:
        data = raw.data(frame)
        if not isinstance(data, bytes):
            raise TypeError(f"{type(data).__name__} is no bytes")
    except FAILURES as error:
        raise HandlerError(name_of(raw.data), error) from None
    return data
