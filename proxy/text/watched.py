"""A watched file: its value, read again when the file changes.

Rules:
* A file that is bad or gone changes nothing. That is reported once, until the file changes again.
* `value` is replaced in one step and may be read at any time. The methods may wait for a disk, and are thread-safe.
* A change shows in the stamp, which is taken before the file is read. While a file is being written, reading waits.
* Files that belong together, such as a certificate and its key, are watched as one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from proxy.text.problems import BadFileError, Reload
from proxy.text.scarce import is_scarce
from proxy.text.stamp import Stamp, settled, stamps

T = TypeVar("T")


def no_warnings(value: object) -> Iterable[object]:
    """The value gives no warnings."""
    return ()


class WatchedFile(Generic[T]):
    """`value` is that of the file, or of its last version without problems.

    `load` reads the file. It raises ValueError (a BadFileError is one) or OSError if the file cannot be used; the
    constructor passes these on. `warnings` gives the warnings about a value that is used. `files`: these are watched
    instead of `file`, which is then only a name.
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
        self._files = (self._name,) if files is None else files
        self._load, self._warnings = load, warnings
        self._looking = threading.Lock()
        self._untold: Reload | None = None
        self._seen = self._valid = stamps(self._files)  # stamps of the last reading, and of the one that gave the value
        self.value = load(self._name)

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

    def value_at(self, seen: Stamp | None) -> T | None:
        """The value, if it came from the file with this stamp; otherwise None."""
        with self._looking:
            return self.value if self._valid == (seen,) else None

    def put(self, value: T, written: Stamp) -> None:
        """Put in force a value that was just written to the file, which has this stamp. The next `look` reports it."""
        with self._looking:
            self._take(value, (written,))

    def _read(self) -> None:
        if stamps(self._files) == self._seen:
            return
        now = settled(self._files)
        try:
            value = self._load(self._name)
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and is_scarce(error):
                raise  # the file is not to blame: it is read by the next look
            problems = error.problems if isinstance(error, BadFileError) else (error,)
            self._untold = Reload(self._name, False, tuple(map(str, problems)))
            self._seen = now
        else:
            self._take(value, now)

    def _take(self, value: T, at: tuple[Stamp | None, ...]) -> None:
        self._untold = Reload(self._name, True, tuple(map(str, self._warnings(value))))
        self.value, self._seen, self._valid = value, at, at
