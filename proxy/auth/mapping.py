"""Principal mapping: from a certificate's name to a principal's, by rules in Kafka's own `ssl.principal.mapping.rules`.

Rules:
* A rule is `DEFAULT` (the name as it is) or `RULE:pattern/replacement/`, then `L` or `U` for lower or upper case.
* The first rule whose pattern fits the whole name decides; if none fits, the client has no principal.
* Patterns and replacements are Java's: `$1` is a group, a backslash makes the next character plain. Syntax that Java or
  Python does not know, or that they read differently, is refused when the rule is read, never when a client comes.
* A name with a line break has no principal: Java's `.` and `$` stop at other line breaks than Python's.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable

DEFAULT = "DEFAULT"
SHOWN = 60  # characters of a rule that is too long to show
EXAMPLE = "RULE:^CN=([^,]+),.*$/$1/L"

# As Kafka splits a list: at commas that no rule needs for itself.
_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSER = re.compile(_RULE)
_CASES: dict[str, Callable[[str], str]] = {"L": str.lower, "U": str.upper, "": str}
_LINE_BREAK = re.compile("[\n\r\x85\u2028\u2029]")
# Up to a word boundary, `\v`, a flag other than `i` and `s`, a group that only Python knows, a `{` without a number, or
# a repeated group with a lazy end.
_OTHERWISE = re.compile(
    r"(?:\\[^bBv]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[])*?"
    r"(\\[bBv]|\(\?[a-zA-Z-]*[amuxL]|\(\?[P#(]|\{(?!\d+(?:,\d*)?\})|[*+?}]\?\)[*+{])"
)
_JAVA_GROUP = re.compile(r"\(\?<(?=[A-Za-z])")

MappingStep = Callable[[str], str | None]


class BadRuleError(ValueError):
    """A rule that cannot be used: the rule, and why."""


class Mapping:
    """Some rules, in order."""

    def __init__(self, rules: Iterable[str]) -> None:
        texts = [match[1] for rule in rules for match in _SPLITTER.finditer(rule.strip())]
        self._steps = [step for step in map(_step, texts) if step]

    def principal(self, name: str) -> str | None:
        """The principal's name for a distinguished name; None if no rule fits, or if the name has a line break."""
        if _LINE_BREAK.search(name):
            return None
        return next((found for step in self._steps if (found := step(name)) is not None), None)


def _step(text: str) -> MappingStep | None:
    """What a rule does; None for an empty one, which Kafka passes over."""
    match = _PARSER.match(text)
    if match is None or match.end() < len(text):
        raise BadRuleError(f'"{text}" is no rule of ssl.principal.mapping.rules')
    if match[1]:
        return lambda name: name
    if match[2] is None:
        return None
    if other := _OTHERWISE.match(match[2]):
        raise BadRuleError(f'the pattern of "{text}" has "{other[1]}", which Java reads differently or not at all')
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # a set within a set: Java reads it as one
            pattern = re.compile(_JAVA_GROUP.sub("(?P<", match[2]), re.ASCII)
    except RecursionError:
        raise BadRuleError(f'the pattern of "{text[:SHOWN]}..." is nested too deep') from None
    except (re.error, ValueError, OverflowError, FutureWarning) as error:
        raise BadRuleError(f'the pattern of "{text}" cannot be read: {error}') from None
    replacement = _replacement(match[3], pattern)
    case = _CASES[match[4]]

    def apply(name: str) -> str | None:
        return case(_replaced(pattern, replacement, name)) if pattern.fullmatch(name) else None

    return apply


def _replaced(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], name: str) -> str:
    """Java's `replaceAll`. After an empty match it looks on from the next character, and Python from the same."""
    pieces, end, start = [], 0, 0
    while start <= len(name) and (match := pattern.search(name, start)):
        pieces += [name[end : match.start()], replacement(match)]
        end = match.end()
        start = end + (match.start() == end)
    return "".join((*pieces, name[end:]))


def _replacement(text: str, pattern: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    """A replacement as Java's Matcher reads it; Kafka first turns references to missing groups into plain text."""
    pieces: list[str | int] = []
    position = missing = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character == "\\":
            if position == len(text):
                raise BadRuleError(f'"{text}" ends with a backslash')
            pieces.append(text[position])
            position += 1
        elif character == "$":
            group, position = _group(text, position, pattern)
            pieces.append(group)
            missing += group == "$"
        else:
            pieces.append(character)
    if missing > 1:
        raise BadRuleError(f'"{text}" names {missing} groups that the pattern does not have; brokers fail from two on')
    return lambda match: "".join(piece if isinstance(piece, str) else match[piece] or "" for piece in pieces)


def _group(text: str, position: int, pattern: re.Pattern[str]) -> tuple[int | str, int]:
    """The group after a "$", and where its name or number ends; the "$" itself if the pattern has no such group.

    A number takes as many digits as still name a group that the pattern has.
    """
    if named := re.compile(r"\{([A-Za-z][A-Za-z0-9]*)\}").match(text, position):
        if named[1] not in pattern.groupindex:
            raise BadRuleError(f'"{text}" names a group "{named[1]}" that the pattern does not have')
        return pattern.groupindex[named[1]], named.end()
    digits = re.compile("[0-9]+").match(text, position)
    if digits is None:
        raise BadRuleError(f'"$" in "{text}" is followed by no number; write "\\$" for the character itself')
    for length in range(len(digits[0]), 0, -1):
        number = int(digits[0][:length])
        if number <= pattern.groups:
            return number, position + length
    if not pattern.groups:
        raise BadRuleError(f'"${digits[0]}" in "{text}" is a group, and the pattern has none')
    return "$", position
