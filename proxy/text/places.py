"""Where everything in a YAML file is: its values, the place of each, and what is wrong with them.

A path names a value (("listeners", "clients", "bind")); `places` has where that value is, `keys` where its key is.
`yaml_document.py` reads a file like this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proxy.text.environment import hidden
from proxy.text.words import named

KeyPath = tuple[str | int, ...]


class Place(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int

    @classmethod
    def of(cls, mark: Any) -> Place:
        return cls(mark.line + 1, mark.column + 1)


@dataclass
class Reading:
    """A file's values, their places, and what was wrong with them so far."""

    value: Any = None
    places: dict[KeyPath, Place] = field(default_factory=dict)
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    problems: list[tuple[Place, str]] = field(default_factory=list)
    without_value: set[Place] = field(default_factory=set)  # a problem is noted here: no further one is reported
    secrets: dict[str, str] = field(default_factory=dict)  # contents of secret variables: value -> reference
    is_whole: bool = True  # the file was read to its end

    def written(self, path: KeyPath) -> KeyPath:
        """The path as the file has it: a single value in place of a list has no index."""
        found: KeyPath = ()
        for part in path:
            if part != 0 or (*found, part) in self.places or found not in self.places:
                found = (*found, part)
        return found

    def place(self, path: KeyPath) -> Place:
        """The place of a value, or of the nearest enclosing one that is in the file."""
        path = self.written(path)
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(1, 1))

    def shown(self, path: KeyPath) -> str:
        """The path of a value as a message shows it: an item of a list stands with its name, as in `plugins.0 (acl)`.

        The name of an item that is text is that text. The name of a mapping with one key is that key.
        """
        path, words, value = self.written(path), [], self.value
        for part in path:
            value = _inside(value, part)
            name = _name(value) if isinstance(part, int) else None
            words.append(str(part) if name is None else f"{part} ({named(name)})")
        return hidden(".".join(words), self.secrets)

    def note(self, place: Place, message: str) -> None:
        self.problems.append((place, message))


def _inside(value: Any, part: str | int) -> Any:
    """A value inside a list or a mapping; None: it is not in the file."""
    try:
        return value[part]
    except (LookupError, TypeError):
        return None


def _name(item: Any) -> str | None:
    if isinstance(item, dict) and len(item) == 1:
        (item,) = item
    return item if isinstance(item, str) else None
