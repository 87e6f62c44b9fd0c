"""A YAML document as plain values, with the place of each (`places.py`).

Rules:
* Every problem is noted and reading goes on. Only a syntax error ends it, or the limit of problems (`MOST`).
* Keys are words as written: "no" is a name, not a boolean. Values follow YAML 1.2 (`scalars.py`).
* Aliases, merge keys, tags and further documents are refused: with them, one line can stand for a billion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from proxy.text.environment import Variables, secrets, shield, substitute, unshield
from proxy.text.pieces import Pieces
from proxy.text.places import KeyPath, Place, Reading
from proxy.text.scalars import is_whole, plain
from proxy.text.words import named, sounds_secret

DEEPEST = 20
MOST = 1_000  # problems of one file: a file with so many is probably the wrong one
HALF = "half of a character stands in this, which no text may have; write it whole, or leave it out"


def read(text: str, environment: Variables) -> Reading:
    """Read one YAML document. Raises yaml.YAMLError if the text is not YAML at all."""
    shielded = shield(text)
    try:
        return _Document(FASTEST(Pieces(shielded)), environment).read()
    except (yaml.YAMLError, UnicodeEncodeError):
        # A text that libyaml refuses is read again by PyYAML's own parser, whose messages `syntax` knows.
        return _Document(yaml.SafeLoader(Pieces(shielded)), environment).read()


# 10,000 rules, 82,000 events: libyaml takes 0.06 s for them, PyYAML's own parser 1.1 s.
FASTEST: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class _EnoughError(Exception):
    """There are so many problems that the rest is not read."""


class _Document:
    """One document, from the events of a parser to plain values."""

    def __init__(self, parser: Any, environment: Variables) -> None:
        self.parser = parser
        self.environment = environment
        self.reading = Reading()
        self.depth = 0

    def read(self) -> Reading:
        try:
            self.next()  # the stream begins
            if isinstance(self.next(), yaml.DocumentStartEvent):
                self.reading.value = self.value(self.next(), ())
                self.next()  # the document ends
                after = self.next()
                if isinstance(after, yaml.DocumentStartEvent):
                    fact = "a second document begins here"
                    self.note(Place.of(after.start_mark), f"{fact}; give it a file of its own")
        except _EnoughError:
            self.reading.is_whole = False
        finally:
            self.parser.dispose()
        return self.reading

    def note(self, place: Place, message: str) -> None:
        """A problem. Raises _EnoughError after the last one that is noted."""
        self.reading.note(place, message)
        if len(self.reading.problems) == MOST:
            self.reading.note(place, f"these are {MOST:,} problems, and nothing after them is read; mend them first")
            raise _EnoughError

    def next(self) -> Any:
        return self.parser.get_event()

    def value(self, event: Any, path: KeyPath) -> Any:
        """The value that begins with an event."""
        place = self.reading.places[path] = Place.of(event.start_mark)
        if self.is_unquoted_secret(event, path, place) or self.is_alias(event, place):
            return None
        self.enter(event)
        value: Any
        if isinstance(event, yaml.MappingStartEvent):
            value = self.mapping(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = tuple(self.items(path))
        else:
            value = self.scalar(event, place)
        self.depth -= 1
        return value

    def items(self, path: KeyPath) -> Iterator[Any]:
        index = 0
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            yield self.value(event, (*path, index))
            index += 1

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            place = Place.of(event.start_mark)
            key = self.key(event, place)
            if key is None:
                self.skip(self.next())
            elif key in result:
                first = self.reading.keys[(*path, key)]
                self.note(place, f'"{named(key)}" stands in line {first.line} already; keep one of the two')
                self.skip(self.next())
            else:
                self.reading.keys[(*path, key)] = place
                result[key] = self.value(self.next(), (*path, key))
        return result

    def key(self, event: Any, place: Place) -> str | None:
        """The name in an event; None if it cannot be a name."""
        if not isinstance(event, yaml.ScalarEvent):
            self.skip(event)
            if not isinstance(event, yaml.AliasEvent):
                self.note(place, 'a list or a mapping stands where a name must; write "name: value"')
            return None
        self.enter(event)
        self.depth -= 1
        if event.value == "<<":
            self.note(place, '"<<" merges another part of the file; write that part out')
            return None
        if not is_whole(event.value):
            self.note(place, HALF)
            return None
        return unshield(event.value)

    def scalar(self, event: Any, place: Place) -> Any:
        text, unset = substitute(event.value, self.environment, MOST)
        # How far into the value a "${" stands is known for values on one line only.
        one_line = event.start_mark.line == event.end_mark.line
        for position, message in unset:
            offset = position + (1 if event.style else 0) if one_line else 0
            self.note(place._replace(column=place.column + offset), message)
            self.reading.without_value.add(place)
        if not is_whole(text):
            self.note(place, HALF)
            self.reading.without_value.add(place)
        if unset or place in self.reading.without_value:
            return None
        if "$" in event.value:
            self.reading.secrets |= secrets(event.value, self.environment)
        return text if event.style else plain(text)

    def skip(self, event: Any) -> None:
        """Skip a value that is not used."""
        if self.is_alias(event, Place.of(event.start_mark)):
            return
        self.enter(event)
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            while not isinstance(inner := self.next(), (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                self.skip(inner)
        self.depth -= 1

    def is_unquoted_secret(self, event: Any, path: KeyPath, place: Place) -> bool:
        """Is this a secret that YAML takes for an alias, a tag or an anchor? Then no message repeats it."""
        tag = getattr(event, "tag", None)
        sign = "*" if isinstance(event, yaml.AliasEvent) else "!" if tag else "&" if event.anchor else None
        if sign is None or not path or not sounds_secret(str(path[-1])):
            return False
        self.note(place, f'a secret that begins with "{sign}" must stand in quotes')
        self.reading.without_value.add(place)
        if tag:
            event.tag = None
        if sign != "*":
            self.skip(event)
        return True

    def is_alias(self, event: Any, place: Place) -> bool:
        if not isinstance(event, yaml.AliasEvent):
            return False
        self.note(place, f'"*{event.anchor}" repeats another part of the file; write that part out')
        self.reading.without_value.add(place)
        return True

    def enter(self, event: Any) -> None:
        """Go one level deeper; a tag there is a problem."""
        if event.tag:
            place = Place.of(event.start_mark)
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.note(place, f'the tag "{tag}" has no meaning here; leave it out')
            self.reading.without_value.add(place)
        self.depth += 1
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"more than {DEEPEST} levels deep", problem_mark=event.start_mark)
