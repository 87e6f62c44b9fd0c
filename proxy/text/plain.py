"""Plain values that a program sent, as JSON has them, checked against a declared section as a file would be.

Rules:
* A problem has the path of the value to change. For a missing value that is the path of the value that lacks it.
* Nothing is taken from the environment: the sender of the values may not see it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from proxy.text.explain import messages
from proxy.text.file import Section
from proxy.text.places import KeyPath
from proxy.text.problems import Finding
from proxy.text.yaml_document import DEEPEST

S = TypeVar("S", bound=Section)


def examine(section: type[S], value: Any, path: KeyPath = ()) -> tuple[S | None, list[Finding]]:
    """The section that a value describes, or all problems of the value; `path` leads to it."""
    try:
        check_depth(value)
        said = _as_in_files(value)
        if not isinstance(said, dict):
            return None, [Finding(path, "a mapping of options must stand here")]
        return section.model_validate(said), []
    except RecursionError:
        return None, [Finding(path, f"more than {DEEPEST} levels deep")]
    except ValidationError as error:
        found = messages(error, section)
        return None, [Finding((*path, *_there(said, inner)), message) for inner, _, message in found]


def shown_path(path: KeyPath) -> str:
    """A path as people write it: `faults[2].do.error`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def check_depth(value: Any, depth: int = 1) -> None:
    """Raises RecursionError for a value that is nested deeper than a file may be."""
    if isinstance(value, dict | list | tuple):
        if depth > DEEPEST:
            raise RecursionError
        for item in value.values() if isinstance(value, dict) else value:
            check_depth(item, depth + 1)


def _as_in_files(value: Any) -> Any:
    """The same value with tuples for lists, as in a file that was read."""
    if isinstance(value, dict):
        return {name: _as_in_files(item) for name, item in value.items()}
    return tuple(_as_in_files(item) for item in value) if isinstance(value, list | tuple) else value


def _there(value: Any, path: KeyPath) -> KeyPath:
    """The longest beginning of a path that leads to a value."""
    for length, part in enumerate(path):
        inside = part in value if isinstance(value, dict) else isinstance(value, tuple) and part in range(len(value))
        if not inside:
            return path[:length]
        value = value[part]
    return path
