"""Building: what a configuration is made into. What would be made of the same again is taken from the one before.

Rules:
* Each thing has a key (what it is, and whose) and is made of something: options, and other things. It is kept where
  both are equal, and is then the same object, with all that it knows.
* Where something cannot be made, the rest is made all the same: all problems are said at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from proxy.net.process import StartError
from proxy.text.problems import BadFileError

T = TypeVar("T")
Key = tuple[Hashable, ...]


class Built(NamedTuple):
    """One thing, and what it was made of."""

    thing: Any
    of: object


class Building:
    """What is made of one configuration. `built` is all of it, by keys; `problems` say what could not be made."""

    def __init__(self, before: Mapping[Key, Built]) -> None:
        self._before = before
        self.built: dict[Key, Built] = {}
        self.problems: list[str] = []

    @contextmanager
    def part(self) -> Iterator[None]:
        """Make a part of it, on which no other part depends."""
        try:
            yield
        except StartError as error:
            self.problems += error.reasons
        except BadFileError as error:
            self.problems += map(str, error.problems)

    def get(self, key: Key, of: object, make: Callable[[], T]) -> T:
        """The thing of this key. Raises what `make` does."""
        known = self.built.get(key) or self._before.get(key)
        if known is None or known.of != of:
            known = Built(make(), of)
        self.built[key] = known
        thing: T = known.thing
        return thing
