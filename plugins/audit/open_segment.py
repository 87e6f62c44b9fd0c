"""An open segment: the file to which a writer appends frames (`segments.py`).

Rules:
* The writer holds a lock on its file from before the file has its name until it is closed. A file that has no name and
  no lock was left by a process that was killed: another one that starts removes it (`recovery.py`).
* A frame is on disk as a whole or not at all: a part that a full disk took is truncated again.
* Each segment has a compressor of its own: a context of zstd serves one thread, and each cluster's journal has its own.
* A file that was deleted or moved can still be written. Its writer checks whether it is there (`is_there`).
"""

from __future__ import annotations

import fcntl
import os
from hashlib import sha256
from pathlib import Path

import zstandard

from plugins.audit.segments import CHECK, SegmentName, beside, checks
from proxy.plugin import give_way
from proxy.plugin.files import sync_folder

BREATH = 256  # lines hashed at once, before the relay's thread gets the interpreter
UNNAMED = "tmp"  # the ending of its file before it has its name
LEVEL = 1  # of compression: level 3 takes longer and saves no room


class OpenSegment:
    """A segment that is being written. Raises OSError if it cannot be made."""

    def __init__(self, journal: Path, name: SegmentName) -> None:
        self.name = name
        self.path = journal / name.path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        here = beside(self.path, UNNAMED)
        try:
            self._fd = _locked(here)
            try:
                here = here.rename(self.path)
                sync_folder(self.path.parent)
            except OSError:
                self.close()
                raise
        except OSError:
            here.unlink(missing_ok=True)  # wherever it is: the next one has the same number
            raise
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._is_torn = False  # a part of a frame is at the end
        self._identity = _identity(os.fstat(self._fd))
        self.size = 0
        self.checks = bytearray()
        self._sha256 = sha256()

    @property
    def events(self) -> int:
        """The number of events in it."""
        return len(self.checks) // CHECK

    @property
    def is_there(self) -> bool:
        """Whether its path still leads to the file that is written. Raises OSError."""
        try:
            return _identity(os.stat(self.path)) == self._identity
        except (FileNotFoundError, NotADirectoryError):
            return False

    @property
    def sha256(self) -> str:
        """The hash of all that was written."""
        return self._sha256.hexdigest()

    def sha256_with(self, lines: list[bytes]) -> str:
        """The hash of all that will have been written once these lines are."""
        sha256 = self._sha256.copy()
        sha256.update(self._frame(lines))
        return sha256.hexdigest()

    def write(self, lines: list[bytes]) -> None:
        """Append these lines as one frame, and wait until they are on disk."""
        frame = self._frame(lines)
        rest = memoryview(frame)
        if self._is_torn:
            self._truncate()
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            os.fdatasync(self._fd)
        except OSError:
            self._is_torn = True
            self._truncate()
            raise
        self.size += len(frame)
        self._sha256.update(frame)
        for first in range(0, len(lines), BREATH):
            self.checks += checks(lines[first : first + BREATH])
            give_way()

    def _frame(self, lines: list[bytes]) -> bytes:
        """These lines, compressed. The same lines give the same bytes."""
        return self._compressor.compress(b"".join(lines))

    def _truncate(self) -> None:
        os.ftruncate(self._fd, self.size)
        self._is_torn = False

    def close(self) -> None:
        """Close the file, which unlocks it."""
        os.close(self._fd)


def _locked(path: Path) -> int:
    """A new file at this path, which is locked. Raises OSError."""
    while True:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_nlink:  # else another process took it for one that was left
                return fd
        except OSError:
            os.close(fd)
            raise
        os.close(fd)


def _identity(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino
