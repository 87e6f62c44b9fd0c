"""The environment in a value: `${NAME}` and `${NAME:-default}`.

# `$$` is one `$`; a `$` before anything but `{` or `$` is itself.
# A variable that is unset and has no default is a problem. With a default, an empty one counts as unset, as in a shell.
# What a variable holds is a value, never YAML: it cannot add options.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

Environment = Mapping[str, str]

_REFERENCE = re.compile(r"\$\$|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}\n]*))?\}|(?P<broken>\$\{)")
# What YAML would read as its own inside an unquoted reference, and private characters that stand in for it.
_SHIELD = {ord(character): 0xF0000 + ord(character) for character in "{}[],:#&*!|>%@`"}
# What YAML 1.1, and with it PyYAML, takes for the end of a line; YAML 1.2 and every editor do not.
_NO_BREAKS = {character: 0xF0000 + character for character in (0x85, 0x2028, 0x2029)}
_UNSHIELD = {shield: character for character, shield in (_SHIELD | _NO_BREAKS).items()}


class Unset(NamedTuple):
    """A reference that gives no value: where in the text it begins, and what to tell the person."""

    position: int
    message: str


def shield(text: str) -> str:
    """The text of a file with its references made plain words of the same length, so that YAML passes them unread."""
    return _REFERENCE.sub(lambda match: match[0].translate(_SHIELD), text).translate(_NO_BREAKS)


def unshield(text: str) -> str:
    """What stood in the file."""
    return text.translate(_UNSHIELD)


def substitute(text: str, environment: Environment) -> tuple[str, list[Unset]]:
    """The shielded text of one value with every reference replaced, and the references that could not be."""
    unset: list[Unset] = []

    def value(match: re.Match[str]) -> str:
        if match["broken"]:
            unset.append(Unset(match.start(), '"${" begins no variable; write "${NAME}", or "$$" for a "$"'))
            return ""
        name, default = match["name"], match["default"]
        if name is None:
            return "$"
        if default is not None:
            return environment.get(name) or default
        if name not in environment:
            way_out = f'set it, or give a default: "${{{name}:-value}}"'
            unset.append(Unset(match.start(), f'environment variable "{name}" is not set; {way_out}'))
        return environment.get(name, "")

    return _REFERENCE.sub(value, unshield(text)), unset
