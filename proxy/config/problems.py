"""Problems: what is wrong with a file, as `file:line:col: fact; way out`.

Pydantic finds most of them; here its errors get our words and the file's places. A message of our own validators passes
as it is.
"""

from collections.abc import Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from proxy.config.places import Path, Place, Reading
from proxy.config.plugins import PluginUse, options_class, plugin_class
from proxy.config.values import nearest, shown


class Problem(NamedTuple):
    """One thing wrong with a file. A warning does not keep the proxy from starting."""

    file: str
    place: Place | None
    message: str
    warning: bool = False

    def __str__(self) -> str:
        where = f"{self.file}:{self.place.line}:{self.place.column}" if self.place else self.file
        return f"{where}: {'warning: ' if self.warning else ''}{self.message}"


class ConfigError(Exception):
    """A file that cannot be used, with every reason why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def described(error: ValidationError, root: type[BaseModel], reading: Reading) -> Iterator[tuple[Place, str]]:
    """Pydantic's errors in our words, each with its place."""
    for details in error.errors(include_url=False):
        path: Path = details["loc"]
        place = reading.keys.get(path) if details["type"] == "extra_forbidden" else None
        place = place or reading.place(path)
        if place not in reading.without_value:
            yield place, _message(details, path, root)


# What a file holds instead of what a declaration wants: the start of pydantic's error type -> what it should be.
_EXPECTED = {
    "model_": "a mapping of options",
    "mapping_": "a mapping of names",
    "dict_": "a mapping of names",
    "tuple_": "a list",
    "list_": "a list",
    "int_": "a whole number",
    "float_": "a number",
    "bool_": "true or false",
    "string_": "text",
}


def _message(details: ErrorDetails, path: Path, root: type[BaseModel]) -> str:
    kind, context, given = details["type"], details.get("ctx", {}), details["input"]
    name = next((str(part) for part in reversed(path) if isinstance(part, str)), "the file")
    if kind == "wrong":
        return str(details["msg"])
    if kind == "extra_forbidden":
        section = _section(root, path[:-1])
        return f'unknown option "{name}"; {nearest(name, section.model_fields if section else ())}'
    way_out = f'write e.g. "{name}: {_example(root, path)}"'
    if kind == "missing":
        return f'"{name}" is missing; {way_out}'
    if kind == "too_short":
        return f'"{name}" is empty; {way_out}'
    if kind == "greater_than_equal":
        return f'"{name}" is {shown(given)}; the least is {context["ge"]}'
    expected = next((words for start, words in _EXPECTED.items() if kind.startswith(start)), None)
    if expected is None:
        return f'"{name}": {details["msg"]}; {way_out}'
    if given is None:
        return f'"{name}" has no value; {way_out}'
    return f'"{name}" is {shown(given)}, not {expected}; {way_out}'


def _declaration(root: type[BaseModel], path: Path) -> tuple[Any, FieldInfo | None]:
    """The type that a path leads to, and the option that declares it."""
    here: Any = root
    option: FieldInfo | None = None
    for part in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            option = here.model_fields.get(str(part))
            here = option.annotation if option else None
        elif here is PluginUse:
            here = options_class(plugin_class(str(part)))
        else:
            here = next((inner for inner in get_args(here) if inner is not str), None)
        here = next((inner for inner in get_args(here) if inner is not NoneType), here) if _is_union(here) else here
    return here, option


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _section(root: type[BaseModel], path: Path) -> type[BaseModel] | None:
    here, _ = _declaration(root, path)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _example(root: type[BaseModel], path: Path) -> str:
    _, option = _declaration(root, path)
    return str(option.examples[0]) if option and option.examples else "..."
