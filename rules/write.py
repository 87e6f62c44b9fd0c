"""Writing rules as a person would write them. `load` reads the same rules back.

Rules:
* One value is written alone, several in brackets. A text is quoted where YAML would read another type, or where it
  would be a reference to the environment.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.text.scalars import plain
from rules import hours
from rules.conditions import Conditions
from rules.hosts import HostPattern
from rules.hours import Hours
from rules.model import AclFile, AclRule
from rules.values import Pattern
from rules.vocabulary import CLUSTER_NAME, Operation, PatternType

_BARE = re.compile(r"[A-Za-z0-9_./](?:[A-Za-z0-9_./@+*:-]*[A-Za-z0-9_./@+*-])?")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "$": "$$"}
_CLUSTER = Pattern(PatternType.LITERAL, CLUSTER_NAME)


def file_text(file: AclFile) -> str:
    """A whole file."""
    lines = []
    if file.super_users:
        lines.append(f"super_users: {inline(file.super_users)}")
    lines.append(f"unmatched: {file.unmatched}")
    lines.append("acls:")
    for acl in file.acls:
        lines += entry(acl)
    return "\n".join(lines) + "\n"


def entry(acl: AclRule) -> list[str]:
    """The lines of one rule."""
    return [f"  {'  ' if number else '- '}{line}" for number, line in enumerate(options(acl))]


def options(acl: AclRule) -> list[str]:
    """What a rule says, `name: value` each."""
    return [f"{name}: {inline(value)}" for name, value in _options(acl)]


def on_one_line(acl: AclRule) -> str:
    """A rule as one mapping in braces."""
    return "{" + ", ".join(options(acl)) + "}"


def _options(acl: AclRule) -> Iterator[tuple[str, Any]]:
    declared = sorted(AclRule.model_fields.items(), key=lambda option: option[0] in Conditions.model_fields)
    for name, option in declared:
        value = getattr(acl, name)
        if value is None:
            continue
        if name == "cluster" and value == (_CLUSTER,):
            value = True
        yield option.alias or name, value


def inline(value: Any) -> str:
    """A value in one line of YAML."""
    if isinstance(value, (Pattern, HostPattern)):
        value = value.written
    elif isinstance(value, Operation):
        value = value.word
    elif isinstance(value, Hours):
        value = hours.written(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {inline(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        inside = [inline(inner) for inner in value]
        return inside[0] if len(inside) == 1 else f"[{', '.join(inside)}]"
    return quoted(str(value))


def quoted(text: str) -> str:
    """A text, in quotes where they are needed."""
    if _BARE.fullmatch(text) and isinstance(plain(text), str):
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\U{ord(character):08x}"
