"""`_rollcall.c`, if it could be compiled: it does the same as the plain Python in `rollcall.py`."""

from typing import final

from proxy.protocol.frame import Buffer

MOST: int  # names that are looked at in one message

@final
class Known:
    def add(self, value: bytes, /) -> None: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...

@final
class RollCall:
    def __new__(cls, program: tuple[int, ...], /) -> RollCall: ...
    def strangers(self, message: Buffer, start: int, begins: bytes, known: Known, /) -> list[bytes] | None: ...
