"""`_tally.c`, if it could be compiled."""

from typing import final

from proxy.protocol.frame import Buffer

Cell = tuple[bytes, int, int, int | None, int, int, int, int, int]
Taken = tuple[int, int, int, float, float, float, float, float, float, list[Cell]]

@final
class Tally:
    def know(self, topic: bytes, partition: int, /) -> int: ...
    def know_none(self) -> None: ...
    def take(self) -> Taken: ...

@final
class Exchange:
    tally: Tally
    came: float
    size: int
    held: int
    def asked(self) -> list[tuple[bytes, int, int, int, int, int]]: ...

@final
class Layout:
    def __new__(cls, program: tuple[int, ...], /) -> Layout: ...
    def elements(self, message: Buffer, start: int, most: int, /) -> int | None: ...
    def ask(
        self, tally: Tally, data: Buffer, begin: int, size: int, header: bytes, came: float, /
    ) -> Exchange | None: ...
    def tell(
        self, exchange: Exchange, data: Buffer, begin: int, end: int, answered: float, left: float, /
    ) -> bytes | None: ...
    def answer(
        self, exchange: Exchange, data: Buffer, begin: int, end: int, answered: float, left: float, at: float, /
    ) -> bool: ...
