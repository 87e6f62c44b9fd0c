"""Where everything in a YAML file is: the file as plain values, and the place of each.

# Every problem is noted and reading goes on; only a syntax error ends it.
# Keys are words as written: "no" is a name, not a boolean. Values follow YAML 1.2: true, false, null, numbers, text.
# A path names a value (("listeners", "clients", "bind")); `places` has where that value is, `keys` where its key is.
# Aliases, merge keys, tags and further documents are refused: with them, one line can stand for a billion.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from proxy.text.environment import Environment, shield, substitute, unshield

Path = tuple[str | int, ...]

DEEPEST = 20
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


class Place(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int

    @classmethod
    def of(cls, mark: Any) -> "Place":
        return cls(mark.line + 1, mark.column + 1)


@dataclass
class Reading:
    """A file's values, their places, and what was wrong with them so far."""

    value: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    problems: list[tuple[Place, str]] = field(default_factory=list)
    without_value: set[Place] = field(default_factory=set)  # a problem noted here says all there is to say

    def place(self, path: Path) -> Place:
        """The place of a value, or of the nearest thing around it that the file has."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(1, 1))

    def note(self, place: Place, message: str) -> None:
        self.problems.append((place, message))


class _Loader(yaml.SafeLoader):
    """Composes nodes, with tags, depth and aliases in hand."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own class attribute; `plain` decides instead

    def __init__(self, text: str, reading: Reading) -> None:
        super().__init__(text)
        self.reading = reading
        self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        place = Place.of(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            self.get_event()  # type: ignore[no-untyped-call]
            self.reading.note(place, f'"*{event.anchor}" repeats another part of the file; write that part out')
            self.reading.without_value.add(place)
            mark: Any = event.start_mark
            return yaml.ScalarNode("", "", mark, mark)
        if getattr(event, "tag", None):
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.reading.note(place, f'the tag "{tag}" has no meaning here; leave it out')
            self.reading.without_value.add(place)
        self.depth += 1
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"more than {DEEPEST} levels deep", problem_mark=event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read(text: str, environment: Environment) -> Reading:
    """Read one YAML document. Raises yaml.YAMLError where the text is not YAML at all."""
    reading = Reading()
    loader = _Loader(shield(text), reading)
    try:
        if loader.check_node():
            reading.value = _Values(reading, environment).value(loader.get_node(), ())
        if loader.check_node():
            second: Any = loader.peek_event()  # type: ignore[no-untyped-call]
            reading.note(Place.of(second.start_mark), "a second document begins here; give it a file of its own")
    finally:
        loader.dispose()
    return reading


@dataclass
class _Values:
    """Turns nodes into plain values, noting places and problems on the way."""

    reading: Reading
    environment: Environment

    def value(self, node: Any, path: Path) -> Any:
        place = self.reading.places[path] = Place.of(node.start_mark)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.value(item, (*path, index)) for index, item in enumerate(node.value))
        return self.scalar(node, place)

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = Place.of(key_node.start_mark)
            key = unshield(key_node.value) if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                self.reading.note(place, 'a list or a mapping stands where a name must; write "name: value"')
            elif key == "<<":
                self.reading.note(place, '"<<" merges another part of the file; write that part out')
            elif key in result:
                first = self.reading.keys[(*path, key)]
                self.reading.note(place, f'"{key}" stands in line {first.line} already; keep one of the two')
            else:
                self.reading.keys[(*path, key)] = place
                result[key] = self.value(value_node, (*path, key))
        return result

    def scalar(self, node: yaml.ScalarNode, place: Place) -> Any:
        text, unset = substitute(node.value, self.environment)
        # How far into the value a "${" stands is known for values on one line only.
        one_line = node.start_mark.line == node.end_mark.line
        for position, message in unset:
            offset = position + (1 if node.style else 0) if one_line else 0
            self.reading.note(place._replace(column=place.column + offset), message)
            self.reading.without_value.add(place)
        if unset:
            return None
        return text if node.style else plain(text)


def plain(text: str) -> Any:
    """The value of an unquoted text, by YAML 1.2's core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
