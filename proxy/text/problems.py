"""Problems: what is wrong with a file, as `file:line:col: fact; way out`."""

from collections.abc import Iterable
from typing import NamedTuple

from proxy.text.places import KeyPath, Place
from proxy.text.words import printable


class Problem(NamedTuple):
    """One thing wrong with a file. A warning does not keep the file from being used."""

    file: str
    place: Place | None
    message: str
    warning: bool = False

    def __str__(self) -> str:
        where = f"{self.file}:{self.place.line}:{self.place.column}" if self.place else self.file
        return printable(f"{where}: {'warning: ' if self.warning else ''}{self.message}")


class Finding(NamedTuple):
    """A problem by the path of the value to change, before its place in a file is known."""

    path: KeyPath
    message: str
    warning: bool = False


class Reload(NamedTuple):
    """A file in use has changed. `taken`: it is in force, and `said` has warnings; otherwise `said` says why not."""

    file: str
    taken: bool
    said: tuple[str, ...] = ()


class BadFileError(ValueError):
    """A file that cannot be used, with every reason why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
