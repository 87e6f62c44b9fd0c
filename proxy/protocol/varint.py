"""Unsigned varints: seven bits a byte, the lowest first (KIP-482). Most are one byte, which printed code reads."""


class Short(Exception):  # noqa: N818 (a signal inside the codec, not an error that anyone sees)
    """Bytes end early, or a length is impossible. `blame.py` finds where and why, by reading again, slowly."""


def read_uvarint(buf: bytes | memoryview, p: int) -> tuple[int, int]:
    """The number at `p`, and where it ends."""
    n = buf[p]
    if n < 128:
        return n, p + 1
    return rest_of_uvarint(buf, p + 1, n)


def rest_of_uvarint(buf: bytes | memoryview, p: int, n: int) -> tuple[int, int]:
    """The number whose first byte `n` says that more follow, and where it ends; at most 32 bits."""
    n &= 127
    for shift in (7, 14, 21, 28):
        byte = buf[p]
        p += 1
        n |= (byte & 127) << shift
        if byte < 128:
            if n > 0xFFFFFFFF:
                break
            return n, p
    raise Short


def _spell(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


UVARINT = tuple(_spell(n) for n in range(1024))  # lengths and counts are small


def uvarint(n: int) -> bytes:
    """`n` as bytes."""
    return UVARINT[n] if n < 1024 else _spell(n)
