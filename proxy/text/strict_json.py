"""Strict JSON: a text that could mean two things is none.

Rules:
* No object has a name twice: of two parsers one would take the first, and the other the last.
* NaN and Infinity, which Python reads, are no JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

SHOWN = 60  # characters of a name


def strict_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises RecursionError or ValueError."""
    return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ValueError(f'"{twice[:SHOWN]}" stands in one object twice')
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
