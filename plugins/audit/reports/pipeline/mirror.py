"""The mirror: makes a remote journal look like a local folder, for verification.

Rules:
* The mirror has all names of the journal, with its seals and statements of pruning. A segment has its bytes only while
  it is checked. So a mirror takes no more room than the largest segment, and each segment is fetched once.
* A segment that is gone when it is fetched is gone from the mirror too, and the statement that it was pruned is there.
* The lock of a writer is not visible remotely: the segment that is being written shows as one without a seal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOENT
from hashlib import file_digest
from os import strerror
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from plugins.audit.pruning import PRUNED
from plugins.audit.reports.pipeline.place import JournalPlace, PlaceError
from plugins.audit.seals import SEAL
from plugins.audit.segments import beside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = (f".{SEAL}", f".{PRUNED}")  # files with these endings are small, and fetched at once


class JournalFiles:
    """The files of a journal in a local folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hashes: dict[Path, str] = {}

    def sha256(self, path: Path) -> str:
        """The hash of a segment, by its path in the folder. Raises OSError."""
        if path not in self._hashes:
            with self.fetched(path):
                self._hash(path)
        return self._hashes[path]

    @contextmanager
    def fetched(self, path: Path) -> Iterator[None]:
        """Make a segment readable within this context. Raises OSError."""
        yield

    def _hash(self, path: Path) -> None:
        with open(self.folder / path, "rb") as opened:
            self._hashes[path] = file_digest(opened, "sha256").hexdigest()


class JournalMirror(JournalFiles):
    """The files of a remote journal, mirrored in an empty folder. Raises PlaceError, and errors of Spark."""

    def __init__(self, spark: SparkSession, place: JournalPlace, folder: Path) -> None:
        super().__init__(folder)
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(f"{place.url}/")
        self._there = root.getFileSystem(spark._jsc.hadoopConfiguration())
        self._root = self._there.makeQualified(root).toString().rstrip("/")
        found = self._there.listFiles(root, True)
        while found.hasNext():
            name = found.next().getPath().toString()
            path = PurePosixPath(name.removeprefix(f"{self._root}/"))
            if not name.startswith(f"{self._root}/") or ".." in path.parts:
                raise PlaceError(f"{place}: {name} is no file in it")
            self._add(Path(path))

    def _add(self, path: Path) -> None:
        here = self.folder / path
        here.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in KEPT:
            self._fetch(path)
        else:
            here.touch()

    def _is_fetched(self, path: Path) -> bool:
        """Fetch a file that may have been deleted since it was listed. Returns whether it is there."""
        from py4j.protocol import Py4JJavaError

        try:
            self._fetch(path)
        except Py4JJavaError:
            if self._there.exists(self._path(f"{self._root}/{path.as_posix()}")):
                raise
            return False
        return True

    def _fetch(self, path: Path) -> None:
        here = self._path(f"file:{self.folder / path}")
        self._there.copyToLocalFile(False, self._path(f"{self._root}/{path.as_posix()}"), here, True)

    @contextmanager
    def fetched(self, path: Path) -> Iterator[None]:
        """Fetch and hash a segment, and keep it within this context. Raises FileNotFoundError if it is gone."""
        if not self._is_fetched(path):
            (self.folder / path).unlink(missing_ok=True)
            self._is_fetched(beside(path, PRUNED))
            raise FileNotFoundError(ENOENT, strerror(ENOENT), str(path))
        self._hash(path)
        try:
            yield
        finally:
            (self.folder / path).write_bytes(b"")


@contextmanager
def journal_files(spark: SparkSession, place: JournalPlace) -> Iterator[JournalFiles]:
    """The files of a journal, local or remote, within this context."""
    if place.folder is not None:
        yield JournalFiles(place.folder)
        return
    with TemporaryDirectory(prefix="doorkeeper-journal-") as folder:
        yield JournalMirror(spark, place, Path(folder))
