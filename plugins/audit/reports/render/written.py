"""Text that clients chose, made safe to read in HTML and in CSV.

Names of topics, groups, users and clients may be any text that a client sent.

Rules:
* In HTML, characters that move the cursor, change the direction of writing or are invisible are escaped: `\\u202e`. A
  very long name is cut in its middle.
* CSV is that of RFC 4180 in UTF-8: CRLF ends a line; a text with a quote, a comma or a line break is quoted. Texts are
  never cut. An empty field is null; an empty text is `""`.
* A spreadsheet runs a text as a formula if it begins with = + - @ (also in their wide forms), a tab or a line break.
  Such a text gets a ' in front. Numbers are never texts, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LONGEST = 120  # characters in the page of a text that a client chose
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_QUOTED = frozenset('",\r\n')


def visible(text: str) -> str:
    """A text with its invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


def cut(value: Any) -> Any:
    """A text without its middle if it is too long for the page; any other value as it is."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    half = LONGEST // 2
    return f"{value[:half]} … {len(value) - 2 * half:,} characters … {value[-half:]}"


def shown(value: Any) -> Any:
    """A value as the page shows it, not escaped yet. Markup stays as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return visible(value) if type(value) is str else value


def csv_line(values: Iterable[Any]) -> str:
    """One line of a CSV file."""
    return ",".join(map(_csv, values)) + "\r\n"


def _csv(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = f"'{value}" if value.startswith(_FORMULA) else str(value)
    if not text or not _QUOTED.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text
