"""Journal folders: reading one, and moving or replacing one while the proxy writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from plugins.audit.frames import frames
from tests.hostile.client import patiently


def told(folder: Path, *words: bytes) -> list[bytes]:
    """The lines of events with all of these words, from all segments below the folder."""
    files = (file for file in folder.rglob("*.jsonl.zst") if file.is_file() and not file.is_symlink())
    lines = (line for file in files for _, some in frames(file.read_bytes()) for line in some)
    return [line for line in lines if all(word in line for word in words)]


def size(journal: Path) -> int:
    """Bytes of all segments."""
    return sum(file.stat().st_size for file in journal.rglob("*.zst") if file.is_file())


@contextmanager
def away(folder: Path) -> Iterator[None]:
    """Move the folder away for this block."""
    moved = folder.with_name("elsewhere")
    folder.rename(moved)
    try:
        yield
    finally:
        _put(folder, lambda: moved.rename(folder))


@contextmanager
def replaced(folder: Path) -> Iterator[None]:
    """Put a file in its place for this block."""
    with away(folder):
        _put(folder, lambda: folder.write_text("no folder"))
        yield


@contextmanager
def linked(folder: Path) -> Iterator[None]:
    """Put a link to another folder in its place for this block."""
    other = mkdtemp(prefix="linked-", dir=folder.parent)
    with away(folder):
        _put(folder, lambda: folder.symlink_to(other))
        yield


@contextmanager
def looped(folder: Path) -> Iterator[None]:
    """Put a link to itself in its place for this block."""
    with away(folder):
        _put(folder, lambda: folder.symlink_to(folder.name))
        yield


@contextmanager
def emptied(folder: Path) -> Iterator[None]:
    """Move its content away, for good."""
    for day in folder.glob("date=*"):
        day.rename(Path(_beside(folder), day.name))
    yield


def _put(folder: Path, put: Callable[[], object]) -> None:
    """Give this name to something else. A folder that the proxy made anew is moved beside it, and `told` reads it."""
    for _ in patiently("the folder is replaced", 30):
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            folder.rename(_beside(folder))
        with suppress(OSError):  # the proxy made the folder anew in between
            put()
            return


def _beside(folder: Path) -> str:
    return mkdtemp(prefix="meanwhile-", dir=folder.parent)
