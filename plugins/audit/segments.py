"""Segments: the files of which a journal is made.

    JOURNAL/date=2026-03-01/hour=08/20260301T080000Z-3f9c2a71-0-000001.jsonl.zst     the segment
    JOURNAL/date=2026-03-01/hour=08/_20260301T080000Z-3f9c2a71-0-000001.seal         its seal (`seals.py`)

Rules:
* A segment is JSON lines in frames of zstd, one frame for each flush. However its writer ends, all frames but the last
  are whole, and `zstdcat` and Spark can read the file at any time.
* The folder has the hour, in UTC, in which the segment was begun. The name has the chain (instance and worker) and the
  segment's number in it. Spark makes columns of the folders, and ignores names that begin with `_`.
* The writer holds a lock on its file (`open_segment.py`). A segment that is neither locked nor sealed was left by a
  process that was killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from plugins.audit.plain_files import Unreadable, listed, refuse

CHECK = 4  # bytes of a line's hash that a seal keeps
# Each number can be written in one way only. Otherwise two files could be the same segment.
_NAME = re.compile(r"(\d{8}T\d{6}Z)-([0-9A-Za-z]+)-(0|[1-9]\d{0,8})-(\d{6}|[1-9]\d{6,17})\.jsonl\.zst", re.ASCII)


@dataclass(frozen=True, order=True)
class SegmentName:
    """The name of a segment, with the parts that its path has."""

    instance: str
    worker: int
    number: int
    begun: str  # as in the path: 20260301T080000Z

    @staticmethod
    def at(seconds: float, instance: str, worker: int, number: int) -> SegmentName:
        """The name of a segment that begins now, in seconds since 1970."""
        return SegmentName(instance, worker, number, f"{datetime.fromtimestamp(seconds, UTC):%Y%m%dT%H%M%SZ}")

    @staticmethod
    def of(path: Path) -> SegmentName | None:
        """The name in a path; None: it is no segment's path."""
        found = _NAME.fullmatch(path.name)
        if found is None or not _is_time(found[1]):
            return None
        return SegmentName(found[2], int(found[3]), int(found[4]), found[1])

    @property
    def begun_at(self) -> datetime:
        """When it was begun."""
        return datetime.fromisoformat(self.begun)

    @property
    def chain(self) -> str:
        """The chain of the segment."""
        return f"{self.instance}-{self.worker}"

    @property
    def path(self) -> Path:
        """Its path within the journal."""
        day = f"{self.begun[:4]}-{self.begun[4:6]}-{self.begun[6:8]}"
        file = f"{self.begun}-{self.chain}-{self.number:06}.jsonl.zst"
        return Path(f"date={day}", f"hour={self.begun[9:11]}", file)


def _is_time(begun: str) -> bool:
    try:
        datetime.fromisoformat(begun)
    except ValueError:
        return False
    return True


def beside(segment: Path, ending: str) -> Path:
    """The file with this ending that belongs to a segment, e.g. its seal."""
    return segment.with_name(f"_{segment.name.removesuffix('.jsonl.zst')}.{ending}")


def hours(journal: Path, unreadable: Unreadable = refuse, *, newest_first: bool = False) -> Iterator[Path]:
    """The folders with segments, the oldest first. Raises OSError unless `unreadable` does not."""
    for day in _folders(journal, "date=", unreadable, newest_first):
        yield from _folders(day, "hour=", unreadable, newest_first)


def _folders(journal: Path, prefix: str, unreadable: Unreadable, newest_first: bool) -> Iterator[Path]:
    entries = listed(journal, unreadable)
    for entry in reversed(entries) if newest_first else entries:
        if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
            yield journal / entry.name


def of_hour(folder: Path, unreadable: Unreadable = refuse) -> Iterator[Path]:
    """The segments in one folder, in the order of their names. Raises OSError unless `unreadable` does not."""
    for entry in listed(folder, unreadable):
        path = folder / entry.name
        if SegmentName.of(path) and entry.is_file(follow_symlinks=False):
            yield path


def segments(journal: Path, unreadable: Unreadable = refuse) -> list[Path]:
    """Every segment of a journal, in the order of the folders and names.

    Raises OSError if a folder cannot be read, unless `unreadable` does not.
    """
    return [path for folder in hours(journal, unreadable) for path in of_hour(folder, unreadable)]


def placed(journal: Path) -> dict[SegmentName, Path]:
    """Each segment once, with its path: the path that its name says, if it is there. Raises OSError."""
    found: dict[SegmentName, Path] = {}
    for path in segments(journal):
        name = SegmentName.of(path)
        if name is not None and (name not in found or path == journal / name.path):
            found[name] = path
    return found


def by_chain(names: Iterable[SegmentName]) -> dict[str, list[SegmentName]]:
    """The segments of each chain, in their order."""
    chains: dict[str, list[SegmentName]] = {}
    for name in sorted(names):
        chains.setdefault(name.chain, []).append(name)
    return chains


def checks(lines: Iterable[bytes]) -> bytes:
    """The first bytes of each line's hash, concatenated."""
    return b"".join([sha256(line).digest()[:CHECK] for line in lines])
