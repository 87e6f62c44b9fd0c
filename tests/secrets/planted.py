"""Planted secrets that can be found again, in whatever encoding they are written."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Iterator
from urllib.parse import quote


def encoded(value: bytes) -> Iterator[bytes]:
    """A value as it is and in all encodings that programs use for bytes, also as a part of a longer text."""
    yield value
    yield repr(value)[2:-1].encode()
    yield value.hex().encode()
    yield value.hex().upper().encode()
    yield value.hex(" ").encode()
    yield "".join(f"%{byte:02X}" for byte in value).encode()
    yield quote(value).encode()
    yield json.dumps(value.decode("latin-1"))[1:-1].encode()
    yield str(list(value))[1:-1].encode()
    for before in range(3):  # its base64 form depends on its offset within a group of three bytes
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + value)[first:last]


class Planted:
    """All secrets of a test, by description."""

    def __init__(self) -> None:
        self._dice = random.Random(11)
        self.values: dict[str, bytes] = {}

    def text(self, name: str) -> str:
        """A new secret of letters and digits."""
        value = "".join(self._dice.choices(string.ascii_letters + string.digits, k=24))
        self.values[name] = value.encode()
        return value

    def data(self, name: str) -> bytes:
        """A new secret of any bytes."""
        self.values[name] = self._dice.randbytes(32)
        return self.values[name]

    def add(self, name: str, value: bytes) -> None:
        """Add a secret made elsewhere."""
        assert len(value) >= 12, "shorter ones would be found by chance"
        self.values[name] = value

    def found(self, written: bytes) -> set[str]:
        """The secrets that occur in this output."""
        return {name for name, value in self.values.items() if any(form in written for form in encoded(value))}
