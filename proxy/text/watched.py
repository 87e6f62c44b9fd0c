"""A watched file: its value, read again when the file changes.

Rules:
* A file that is bad or gone changes nothing. That is reported once, until the file changes again.
* `value` is replaced in one step and may be read at any time. The methods may wait for a disk, and are thread-safe.
* A change shows in the stamp, which is taken before the file is read. While a file is being written, reading waits. If
  it changes all the same while it is read, that is read by the next look: it may have been empty for an instant.
* Files that belong together, such as a certificate and its key, are watched as one.
* A process that takes another's place may find a bad file. Then what that process had in force stays in force
  (`inherited`), until the file changes to a good one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Generic, TypeVar

from proxy.text.problems import BadFileError, Reload
from proxy.text.regular import open_regular, read_instead
from proxy.text.scarce import is_scarce
from proxy.text.stamp import FileStamp, stamps, stamps_at_rest

T = TypeVar("T")
Contents = Mapping[str, bytes]  # by file
_inherited: ContextVar[Contents] = ContextVar("_inherited")


@contextmanager
def inherited(contents: Contents) -> Iterator[None]:
    """Within this, a watched file that is bad to begin with has the content that is given here, if there is one."""
    token = _inherited.set(contents)
    try:
        yield
    finally:
        _inherited.reset(token)


def no_warnings(value: object) -> Iterable[object]:
    """The value gives no warnings."""
    return ()


class WatchedFile(Generic[T]):
    """`value` is that of the file, or of its last version without problems.

    `load` reads the file. It raises ValueError (a BadFileError is one) or OSError if the file cannot be used; the
    constructor passes these on. `warnings` gives the warnings about a value that is used. `files`: these are watched
    instead of `file`, which is then only a name. `valid`: the stamps of the files that gave the value; none for content
    that was inherited.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        load: Callable[[str], T],
        warnings: Callable[[T], Iterable[object]] = no_warnings,
        files: Sequence[str] | None = None,
    ) -> None:
        self.file = Path(file)
        self._name = os.fspath(file)
        self.files = (self._name,) if files is None else files
        self._load, self._warnings = load, warnings
        self._looking = threading.Lock()
        self._untold: Reload | None = None
        self._seen = self.valid = stamps(self.files)  # stamps of the last reading, and of the one that gave the value
        try:
            self.value = load(self._name)
        except (ValueError, OSError) as error:
            self.value = self._inherit(error)

    def look(self) -> Reload | None:
        """Read the file if it has changed. Returns what there is to report. Raises OSError if descriptors run out."""
        with self._looking:
            self._read()
            told, self._untold = self._untold, None
            return told

    def current(self) -> T:
        """The value of the file as it is at this moment; the next `look` returns what there is to report."""
        with self._looking:
            self._read()
            return self.value

    def value_at(self, seen: FileStamp | None) -> T | None:
        """The value, if it came from the file with this stamp; otherwise None."""
        with self._looking:
            return self.value if self.valid == (seen,) else None

    def contents(self, most: int) -> Mapping[str, bytes | None]:
        """The contents of the files, from which `value` came. None for each if they cannot be told: the files have
        changed since, or one has more bytes than `most`.
        """
        contents: dict[str, bytes | None] = {}
        with self._looking, suppress(OSError):
            before = self.valid
            for file in self.files:
                with open_regular(file) as opened:
                    contents[file] = opened.read(most + 1)
            if before == stamps(self.files) and all(len(content or b"") <= most for content in contents.values()):
                return contents
        return dict.fromkeys(self.files)

    def put(self, value: T, written: FileStamp) -> None:
        """Put in force a value that was just written to the file, which has this stamp. The next `look` reports it."""
        with self._looking:
            self._take(value, (written,))

    def _read(self) -> None:
        if stamps(self.files) == self._seen:
            return
        now = stamps_at_rest(self.files)
        try:
            value = self._load(self._name)
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and is_scarce(error):
                raise  # the file is not to blame: it is read by the next look
            if stamps(self.files) == now:
                self._untold, self._seen = self._refused(error), now
        else:
            if stamps(self.files) == now:
                self._take(value, now)

    def _take(self, value: T, at: tuple[FileStamp | None, ...]) -> None:
        self._untold = Reload(self._name, True, tuple(map(str, self._warnings(value))))
        self.value, self._seen, self.valid = value, at, at

    def _inherit(self, error: Exception) -> T:
        """The value of inherited content, since the file is bad. Raises that error if there is none."""
        contents = _inherited.get({})
        if (isinstance(error, OSError) and is_scarce(error)) or not all(file in contents for file in self.files):
            raise error
        with read_instead({file: contents[file] for file in self.files}):
            value = self._load(self._name)
        self._untold, self.valid = self._refused(error), ()
        return value

    def _refused(self, error: Exception) -> Reload:
        problems = error.problems if isinstance(error, BadFileError) else (error,)
        return Reload(self._name, False, tuple(map(str, problems)))
