"""Building: the things that are made of a configuration. A thing of the same input is taken from the previous snapshot.

Rules:
* Each thing has a key (what it is, and whose) and is made of some input: options, and other things. If key and input
  are equal, the thing is kept. It is then the same object, with its whole state.
* If one thing cannot be made, the others are made all the same, so that all problems are reported at once.
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
    """One thing, and the input that it was made of."""

    thing: Any
    of: object


class Building:
    """Everything made of one configuration. `built` has all of it by key. `problems` say what could not be made."""

    def __init__(self, before: Mapping[Key, Built]) -> None:
        self._before = before
        self.built: dict[Key, Built] = {}
        self.problems: list[str] = []

    @contextmanager
    def part(self) -> Iterator[None]:
        """Make a part on which no other part depends. Its errors become `problems`."""
        try:
            yield
        except StartError as error:
            self.problems += error.reasons
        except BadFileError as error:
            self.problems += map(str, error.problems)

    def get(self, key: Key, of: object, make: Callable[[], T]) -> T:
        """The thing with this key. Raises whatever `make` raises."""
        known = self.built.get(key) or self._before.get(key)
        if known is None or known.of != of:
            known = Built(make(), of)
        self.built[key] = known
        thing: T = known.thing
        return thing
