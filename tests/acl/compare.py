"""Comparing converted responses: a value by its path, and whether two sides are alike."""

from __future__ import annotations

import re
from typing import Any

from tests.acl.answers import DUMPED


def at(told: Any, path: str) -> Any:
    """The value at a path: `errorCode`, `topics[].name` for all of a list, `topics[orders].name` for one of it."""
    return _at(told, [part for part in re.split(r"\.|(?=\[)", path) if part], path)


def _at(told: Any, parts: list[str], path: str) -> Any:
    if not parts:
        return told
    part, *rest = parts
    if part == "[]":
        found = [_at(each, rest, path) for each in told]
        return [inner for each in found for inner in each] if "[]" in rest else found
    if part.startswith("["):
        wanted = part[1:-1]
        for each in told:
            if wanted in map(str, each.values()):
                return _at(each, rest, path)
        raise KeyError(f"{path}: nothing there is called {wanted}")
    if not isinstance(told, dict) or part not in told:
        raise KeyError(f"{path}: there is no {part}; there is {', '.join(told) if isinstance(told, dict) else told}")
    return _at(told[part], rest, path)


def alike(one: Any, other: Any) -> bool:
    """Are two sides alike? An error message with a dump of the request matches any text."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other or (one == DUMPED and isinstance(other, str))
