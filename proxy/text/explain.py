"""Explaining: the problems that pydantic found in a file's values, in our words and with the file's places.

Rules:
* A message of our own validators passes as it is. Messages for problems that any value can have are made here.
* A problem that follows from another is not reported: a list is "empty" because its items are wrong, a name is
  "missing" because it is misspelt.
* The value of an option that sounds secret is not shown, whatever it is; nor is any value of a file that is `secret`.
"""

import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined

from proxy.text.places import KeyPath, Place, Reading
from proxy.text.words import named, nearest, nearest_word, shown, sounds_secret
from proxy.text.yaml_document import MOST

# The start of pydantic's error type -> what the value should have been.
EXPECTED = {
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
BOUNDS = {
    "greater_than_equal": ("the least is", "ge"),
    "greater_than": ("it must be above", "gt"),
    "less_than_equal": ("the most is", "le"),
    "less_than": ("it must be below", "lt"),
}


def explained(
    error: ValidationError, root: type[BaseModel], reading: Reading, *, secret: bool = False
) -> Iterator[tuple[Place, str]]:
    """Every error that says something new, as place and message."""
    for path, is_unknown, message in messages(error, root, secret=secret):
        place = reading.keys[reading.written(path)] if is_unknown else reading.place(path)
        if place not in reading.without_value:
            yield place, message


def messages(
    error: ValidationError, root: type[BaseModel], *, secret: bool = False
) -> Iterator[tuple[KeyPath, bool, str]]:
    """Every error that says something new: its path, whether that is an unknown option, and the message.

    If there are very many, only the first ones.
    """
    if error.error_count() > MOST:
        yield (), False, f"these are the first {MOST:,} of {error.error_count():,} problems; mend them first"
    errors = error.errors(include_url=False)
    around: set[KeyPath] = {path[:end] for path in {details["loc"] for details in errors} for end in range(len(path))}
    unknown = [details["loc"] for details in errors if details["type"] == "extra_forbidden"]
    meant = {_meant(root, path) for path in unknown[:MOST]}
    for details in errors[:MOST]:
        path: KeyPath = details["loc"]
        kind = details["type"]
        follows = kind == "missing" and path in meant
        follows = follows or (kind == "too_short" and path in around)
        if not follows:
            hidden = secret or any(sounds_secret(part) for part in path if isinstance(part, str))
            yield path, kind == "extra_forbidden", _message(details, root, hidden)


def _message(details: ErrorDetails, root: type[BaseModel], hidden: bool) -> str:
    path, kind, given = details["loc"], details["type"], details["input"]
    name = next((str(part) for part in reversed(path) if isinstance(part, str)), "the file")
    value = "***" if hidden else shown(given)
    if kind == "wrong":
        return str(details["msg"])
    if kind == "extra_forbidden":
        way_out = nearest(name, _options(root, path[:-1])) or "there are none here"
        return f'unknown option "{named(name)}"; {way_out}'
    way_out = f'write e.g. "{name}: {_example(root, path)}"'
    if kind == "missing":
        return f'"{name}" is missing; {way_out}'
    if given is None:
        return f'"{name}" has no value; {way_out}'
    if kind == "too_short" or (given == "" and kind == "string_too_short"):
        return f'"{name}" is empty; {way_out}'
    if kind in BOUNDS:
        limit, bound = BOUNDS[kind]
        return f'"{name}" is {value}; {limit} {details["ctx"][bound]}'
    if kind in ("enum", "literal_error"):
        words = re.findall("'(.*?)'", details["ctx"]["expected"])
        return f"unknown {name} {value}; {nearest(str(given), words)}"
    for start, expected in EXPECTED.items():
        if kind.startswith(start):
            return f'"{name}" is {value}, not {expected}; {way_out}'
    return f'"{name}": {details["msg"]}; {way_out}'


def _meant(root: type[BaseModel], path: KeyPath) -> KeyPath:
    """The path of the option that an unknown name most likely stands for."""
    return (*path[:-1], nearest_word(str(path[-1]), _options(root, path[:-1])) or "")


def _options(root: type[BaseModel], path: KeyPath) -> dict[str, FieldInfo]:
    kind, _ = _declaration(root, path)
    return _fields(kind) if _is_section(kind) else {}


def _fields(section: type[BaseModel]) -> dict[str, FieldInfo]:
    """The options of a section, by the names that stand in a file."""
    return {option.alias or name: option for name, option in section.model_fields.items()}


def _example(root: type[BaseModel], path: KeyPath) -> str:
    """A value as YAML: the option's own example, or, for a name that the user chose, the options that it must have."""
    _, option = _declaration(root, path)
    if option and option.examples:
        return str(option.examples[0])
    if option and option.default not in (None, PydanticUndefined):
        return shown(option.default)
    required = {name: it for name, it in _options(root, path).items() if it.is_required() and it.examples}
    inside = ", ".join(f"{name}: {(it.examples or [])[0]}" for name, it in required.items())
    if inside:
        return f"{{{inside}}}"
    return _example(root, path[:-1]) if path and isinstance(path[-1], int) else "..."  # as the whole list is said


def _declaration(root: type[BaseModel], path: KeyPath) -> tuple[Any, FieldInfo | None]:
    """The type to which a path leads, and its option; None if the path ends in a name or an item under an option."""
    kind: Any = root
    option: FieldInfo | None = None
    for part in path:
        if _is_section(kind):
            option = _fields(kind).get(str(part))
            kind = option.annotation if option else None
        elif hasattr(kind, "declaration"):  # only the kind itself knows what stands under a name
            option, kind = None, kind.declaration(str(part))
        else:
            option, kind = None, next((inner for inner in get_args(kind) if inner is not str), None)
        while get_origin(kind) in (Annotated, Union, UnionType):
            kind = next(inner for inner in get_args(kind) if inner is not NoneType)
    return kind, option


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
