"""A relay that stands where clients connect, and reads every byte that they are sent.

It looks for a broker's own address in both forms: as text ("127.0.0.11", "127.0.0.1:23456"), and as the wire has it, a
host followed by its port in four bytes. A pattern may lie across two reads, so the end of each read is looked at
again with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.real.threaded_relay import Read, ThreadedRelay

CONTEXT = 48  # bytes shown on either side of a leak


def wire_address(host: str, port: int) -> bytes:
    """How a response ends a host and begins its port."""
    return host.encode() + port.to_bytes(4, "big")


def forbidden(brokers: Iterable[tuple[str, int]], advertised: str) -> re.Pattern[bytes]:
    """Everything that must not be told: a broker's host in any form, and its port beside any host."""
    words = []
    for host, port in brokers:
        words += [re.escape(host.encode()) + rb"(?![0-9])", re.escape(wire_address(advertised, port))]
        words.append(re.escape(f"{advertised}:{port}".encode()) + rb"(?![0-9])")
    return re.compile(b"|".join(words))


@dataclass
class Reader:
    """Finds the pattern in one connection's bytes, however they are cut."""

    pattern: re.Pattern[bytes]
    overlap: int = 128
    _rest: bytes = b""

    def read(self, data: bytes) -> Iterable[bytes]:
        """What was found in the new bytes, each with what stands around it."""
        looked_at = self._rest + data
        for found in self.pattern.finditer(looked_at):
            if found.end() > len(self._rest):
                yield looked_at[max(0, found.start() - CONTEXT) : found.end() + CONTEXT]
        self._rest = looked_at[-self.overlap :]


class Relay(ThreadedRelay):
    """Looks for the pattern in all that clients are sent."""

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
    """What clients send is not looked at."""
