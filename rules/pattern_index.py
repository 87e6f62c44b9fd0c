"""Pattern index: finds the rules about resources of one type by the name of a resource.

Rules:
* A pattern is a name, a prefix, or every name. One lookup finds a name, and one lookup for each length of prefix finds
  the prefixes. The number of patterns does not matter.
* "Every name" leaves out names that begin with a `*`, as StandardAuthorizer does. It takes the literal `*` for an
  ordinary name that the longer name merely begins with, and goes on.
"""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from rules.values import EVERY, Pattern
from rules.vocabulary import WILDCARD, PatternType

T = TypeVar("T")


class PatternIndex(Generic[T]):
    """Things by pattern. Call `close` when all of them are put in."""

    __slots__ = ("every", "lengths", "literal", "prefixed")

    def __init__(self) -> None:
        self.literal: dict[str, list[T]] = {}
        self.prefixed: dict[str, list[T]] = {}
        self.every: list[T] = []
        self.lengths: tuple[int, ...] = ()  # of the prefixes, the longest first

    def put(self, pattern: Pattern, thing: T) -> None:
        if pattern == EVERY:
            self.every.append(thing)
        elif pattern.type is PatternType.LITERAL:
            self.literal.setdefault(pattern.name, []).append(thing)
        else:
            self.prefixed.setdefault(pattern.name, []).append(thing)

    def close(self) -> None:
        self.lengths = tuple(sorted({len(beginning) for beginning in self.prefixed}, reverse=True))

    def about(self, name: str) -> Sequence[T]:
        """The things whose pattern matches this name: of the name itself, of its prefixes, and of every name."""
        found: Sequence[T] = self.literal.get(name, ())
        for length in self.lengths:
            # A shorter name is its own prefix: its things are found again, which changes nothing.
            if (things := self.prefixed.get(name[:length])) is not None:
                found = [*found, *things] if found else things
        if self.every and (name[:1] != WILDCARD or name == WILDCARD):
            found = [*found, *self.every] if found else self.every
        return found

    def covering(self, pattern: Pattern) -> Iterator[T]:
        """The things whose pattern matches every name that this pattern matches."""
        for length in self.lengths:
            if length <= len(pattern.name) and not (pattern.is_every and length):
                yield from self.prefixed.get(pattern.name[:length], ())
        if pattern.type is PatternType.LITERAL:
            yield from self.literal.get(pattern.name, ())
        if pattern.is_every or pattern.name[:1] not in ("", WILDCARD):
            yield from self.every

    def all(self) -> Iterator[tuple[Pattern, T]]:
        """Everything, with its pattern."""
        for kind, found in ((PatternType.LITERAL, self.literal), (PatternType.PREFIXED, self.prefixed)):
            for name, things in found.items():
                for thing in things:
                    yield Pattern(kind, name), thing
        for thing in self.every:
            yield EVERY, thing
