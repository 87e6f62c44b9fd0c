"""A relay between clients and the proxy that searches every byte sent to clients.

It searches for a broker's own address in both forms: as text ("127.0.0.11", "127.0.0.1:23456"), and as on the wire, a
host followed by its port in four bytes. A match may cross two reads, so the end of each read is searched again with
the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.real.threaded_relay import Read, ThreadedRelay

CONTEXT = 48  # bytes shown on either side of a leak


def wire_address(host: str, port: int) -> bytes:
    """A host and its port as in a response."""
    return host.encode() + port.to_bytes(4, "big")


def forbidden(brokers: Iterable[tuple[str, int]], advertised: str) -> re.Pattern[bytes]:
    """A pattern of all that clients must not receive: a broker's own host, and its port after the advertised host."""
    words = []
    for host, port in brokers:
        words += [re.escape(host.encode()) + rb"(?![0-9])", re.escape(wire_address(advertised, port))]
        words.append(re.escape(f"{advertised}:{port}".encode()) + rb"(?![0-9])")
    return re.compile(b"|".join(words))


@dataclass
class Reader:
    """Finds the pattern in one connection's bytes, however they are split into reads."""

    pattern: re.Pattern[bytes]
    overlap: int = 128
    _rest: bytes = b""

    def read(self, data: bytes) -> Iterable[bytes]:
        """The matches in the new bytes, each with its context."""
        looked_at = self._rest + data
        for found in self.pattern.finditer(looked_at):
            if found.end() > len(self._rest):
                yield looked_at[max(0, found.start() - CONTEXT) : found.end() + CONTEXT]
        self._rest = looked_at[-self.overlap :]


class Relay(ThreadedRelay):
    """Searches for the pattern in all bytes sent to clients."""

    def __init__(self, host: str, target: str, ports: Mapping[int, int], pattern: re.Pattern[bytes]) -> None:
        super().__init__(host, target, ports)
        self._pattern = pattern
        self.leaks: list[bytes] = []
        self.sent_to_clients = 0

    def readers(self, port: int) -> tuple[Read, Read]:
        reader = Reader(self._pattern)

        def answered(data: bytes) -> None:
            self.sent_to_clients += len(data)
            self.leaks.extend(reader.read(data))

        return _unread, answered


def _unread(data: bytes) -> None:
    """Bytes from clients are not searched."""
