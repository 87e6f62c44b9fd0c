"""Shared rows: numbers that all workers of one proxy count together, in shared memory.

Rules:
* The supervisor makes a file without a name, and each worker maps it. The file is gone when the last of them ends.
* It is in memory, and written whole at first: writing to a page for which a full disk has no room kills a process.
* A worker has exclusive access while it holds the file's lock. A process that dies holds no lock, however it died.
* A row belongs to a key as long as any worker uses it. After that it is free. A worker is noted as a user by its
  number. If a worker is replaced, the new one has the same number, and releases the rows that it does not use itself.
* The number of rows is fixed. For a key without a row, each worker counts for itself until it gets one.
* A proxy with one worker has the same table in memory of its own.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b
from types import TracebackType
from typing import IO, NamedTuple, cast
from weakref import WeakSet

from proxy.core.services import NUMBERS

ROWS = 4096
WORD = 8  # bytes
# Offsets in words. A row has the digest of a key, its scope, a bit for each worker that uses it, and its numbers.
SCOPE, USERS, FIRST = 2, 3, 7
ROW = FIRST + NUMBERS
SIZE = ROWS * ROW * WORD
MOST_WORKERS = (FIRST - USERS) * WORD * 8

Row = MutableSequence[float]


class Digest(NamedTuple):
    """The hash of a key. `first` is never 0, because 0 marks a free row."""

    first: int
    second: int


def shared_file() -> IO[bytes]:
    """A new file for the rows of all workers."""
    file: IO[bytes]
    if sys.platform == "linux":
        file = os.fdopen(os.memfd_create("doorkeeper-rows", os.MFD_CLOEXEC), "w+b")
    else:
        file = cast(IO[bytes], tempfile.TemporaryFile(prefix="doorkeeper-"))  # noqa: SIM115 (who asks for it closes it)
    file.write(bytes(SIZE))
    file.flush()
    return file


class FileLock(AbstractContextManager[None]):
    """While it is held, no other worker and no other thread of this one uses the file."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._thread = threading.Lock()

    def __enter__(self) -> None:
        self._thread.acquire()
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
        except BaseException:
            self._thread.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        finally:
            self._thread.release()


class SharedTable:
    """All rows, as the worker with this number sees them. `file`: the descriptor of the shared file, or None."""

    def __init__(self, file: int | None = None, worker: int = 0) -> None:
        memory = memoryview(mmap.mmap(-1 if file is None else file, SIZE))
        self._words, self._numbers = memory.cast("Q"), memory.cast("d")
        word, bit = divmod(worker % MOST_WORKERS, WORD * 8)
        self._user_word, self._user_bit = USERS + word, 1 << bit
        self.alone: AbstractContextManager[object] = threading.Lock() if file is None else FileLock(file)
        self._plugins: WeakSet[PluginRows] = WeakSet()

    def of(self, scope: str) -> PluginRows:
        """The rows of one plugin. `scope` is its name."""
        rows = PluginRows(self, scope)
        with self.alone:  # another thread may iterate over them
            self._plugins.add(rows)
        return rows

    def find(self) -> dict[Digest, int]:
        """The rows of all keys, by digest."""
        firsts, seconds = self._words[::ROW].tolist(), self._words[1::ROW].tolist()
        digests = enumerate(zip(firsts, seconds, strict=True))
        return {Digest(first, second): row for row, (first, second) in digests if first}

    def add(self, digest: Digest, scope: int, numbers: Sequence[float]) -> int | None:
        """A row for a new key. None if there is none left."""
        try:
            row: int = self._words[::ROW].tolist().index(0)
        except ValueError:
            return None
        for position, number in enumerate(_own(numbers)):
            self.row(row)[position] = number
        at = row * ROW
        self._words[at + SCOPE], self._words[at + 1] = scope, digest.second
        self._words[at] = digest.first  # written last: until then the row is free, even if this worker dies
        return row

    def row(self, row: int) -> memoryview[float]:
        """The numbers of a row."""
        return self._numbers[row * ROW + FIRST : (row + 1) * ROW]

    def use(self, row: int) -> None:
        """Note that this worker uses a row."""
        self._words[row * ROW + self._user_word] |= self._user_bit

    def let_go(self, scope: int) -> None:
        """Release this worker's rows of a scope that none of its plugins uses."""
        used = {row for plugin in self._plugins if plugin.scope == scope for row in plugin.used}
        for row, whose in enumerate(self._words[SCOPE::ROW].tolist()):
            if whose != scope or row in used:
                continue
            at = row * ROW
            self._words[at + self._user_word] &= ~self._user_bit
            if not any(self._words[at + USERS : at + FIRST]):
                self._words[at], self._words[at + SCOPE] = 0, 0


class PluginRows:
    """The rows of one plugin in all workers: see `SharedRows` of the services."""

    def __init__(self, table: SharedTable, scope: str) -> None:
        self.alone = table.alone
        self.scope = _digest(scope).first
        self.used: frozenset[int] = frozenset()
        self._table, self._name = table, scope
        self._apart: dict[str, Row] = {}  # by key: numbers without a row

    def use(self, keys: Iterable[str], first: Sequence[float]) -> Mapping[str, Row]:
        """The rows of these keys."""
        table, found = self._table, {}
        with self.alone:
            known = table.find()
            for key in keys:
                digest = _digest(f"{self._name}\0{key}")
                row = known.get(digest)
                row = table.add(digest, self.scope, self._apart.get(key, first)) if row is None else row
                if row is not None:
                    table.use(row)
                found[key] = row
            self.used = frozenset(row for row in found.values() if row is not None)
            table.let_go(self.scope)
        self._apart = {key: self._apart.get(key) or _own(first) for key, row in found.items() if row is None}
        return {key: self._apart[key] if row is None else cast(Row, table.row(row)) for key, row in found.items()}


def _own(first: Sequence[float]) -> list[float]:
    return [*first, *[0.0] * (NUMBERS - len(first))]


def _digest(text: str) -> Digest:
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=2 * WORD).digest()
    return Digest(int.from_bytes(digest[:WORD]) | 1, int.from_bytes(digest[WORD:]))
