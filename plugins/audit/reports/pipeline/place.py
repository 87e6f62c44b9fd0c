"""The place: where a journal is, which segments it has, and which of them are sealed.

Rules:
* A place is a local folder, or any URL that Spark reads (`hdfs:`, `s3a:`, ...). Spark lists both.
* Only the names of files are used. A file without the name of a segment is none, nor is a link.
* A sealed segment does not change any more. Any other may still be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plugins.audit.plain_files import listed
from plugins.audit.segments import SegmentName, beside, hours, segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_GLOB = re.compile(r"([\\{}\[\]*?])")


class PlaceError(Exception):
    """The place does not exist, is no journal, or cannot be read or shared. The text is for people, with a way out."""


class Listing(NamedTuple):
    """The segments of a journal as paths in it: sealed ones, and others."""

    sealed: tuple[str, ...]
    unsealed: tuple[str, ...]


@dataclass(frozen=True)
class JournalPlace:
    """The place of a journal. `folder` is None if it is remote."""

    url: str  # without a / at its end
    folder: Path | None

    @staticmethod
    def of(text: str) -> JournalPlace:
        """Read a path or a URL."""
        scheme = _SCHEME.match(text)
        if scheme is None or scheme[1].lower() == "file":
            path = text if scheme is None else re.sub(r"^/{2,3}(?=/)|^//localhost(?=/)", "", text[scheme.end() :])
            folder = Path(path).absolute()
            return JournalPlace(f"file:{folder.as_posix()}", folder)
        return JournalPlace(text.rstrip("/"), None)

    @property
    def pattern(self) -> str:
        """The URL as a pattern for Spark, with glob characters escaped."""
        return _GLOB.sub(r"\\\1", self.url)

    def inside(self, path: str) -> JournalPlace:
        """A file or folder in it."""
        return JournalPlace(f"{self.url}/{path}", self.folder and self.folder / path)

    def there(self, spark: SparkSession, paths: Sequence[str]) -> list[str]:
        """Those of these segments that are there now. Raises PlaceError.

        Of a remote journal, their folders are listed: to ask for each segment would take a round trip each.
        """
        if self.folder is not None or not paths:
            return [path for path in paths if self.folder and (self.folder / path).exists()]
        folders = {str(Path(path).parent) for path in paths}
        files = {Path(*path.parts[-3:]) for path in self._listed(spark, f"{{{','.join(sorted(folders))}}}/*")}
        return [path for path in paths if Path(path) in files]

    def check(self) -> None:
        """Check that there is a journal, if it is a folder of this machine. Raises PlaceError, OSError."""
        if self.folder is not None:
            if self.folder.is_file():
                raise PlaceError(f"{self}: this is a file; give the folder that stands at plugins: audit: journal")
            if not self.folder.is_dir():
                raise PlaceError(f"{self}: there is no such folder; give the one at plugins: audit: journal")
            if not segments(self.folder):
                raise self._none()

    def _none(self) -> PlaceError:
        return PlaceError(f"{self}: there is no segment of a journal; give the folder with date=... in it")

    def listing(self, spark: SparkSession) -> Listing:
        """The segments that are there now. Raises PlaceError, OSError."""
        self.check()
        files = {Path(*path.parts[-3:]) for path in self._files(spark)}
        found = sorted(path for path in files if SegmentName.of(path))
        if not found:
            raise self._none()
        sealed = {path for path in found if beside(path, "seal") in files}
        unsealed = (path for path in found if path not in sealed)
        return Listing(tuple(map(str, sorted(sealed))), tuple(map(str, unsealed)))

    def _files(self, spark: SparkSession) -> Iterable[Path]:
        """All files in the folders of segments."""
        if self.folder is not None:
            entries = ((hour, entry) for hour in hours(self.folder) for entry in listed(hour))
            return (hour / entry.name for hour, entry in entries if not entry.is_symlink())
        return self._listed(spark, "date=*/hour=*/*")

    def _listed(self, spark: SparkSession, within: str) -> list[Path]:
        """The files of a remote journal that match this pattern. Raises PlaceError."""
        from py4j.protocol import Py4JJavaError

        jvm: Any = spark._jvm
        pattern = jvm.org.apache.hadoop.fs.Path(f"{self.pattern}/{within}")
        try:
            found = pattern.getFileSystem(spark._jsc.hadoopConfiguration()).globStatus(pattern)
        except Py4JJavaError as error:
            raise PlaceError(f"{self}: cannot be read ({java_says(error)})") from None
        return [Path(status.getPath().toString()) for status in found]

    def __str__(self) -> str:
        return self.url if self.folder is None else str(self.folder)


def java_says(error: object) -> str:
    """The message of a Java exception, on one line."""
    exception = getattr(error, "java_exception", error)
    return str(exception).splitlines()[0].rpartition("Exception: ")[2]
