"""Scalars: the value of an unquoted text, by YAML 1.2's core schema: true, false, null, numbers, text."""

from __future__ import annotations

import re
from typing import Any

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def plain(text: str) -> Any:
    """The value of an unquoted text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def is_whole(text: str) -> bool:
    r"""Whether this can be encoded. `"\ud800"` is half of a character, as are bytes of a variable that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
