"""The environment in a value: `${NAME}` and `${NAME:-default}`.

Rules:
* `$$` is one `$`; a `$` before anything but `{` or `$` is itself. A default ends at the first `}` of its line, and
  cannot contain another reference.
* A variable that is unset and has no default is a problem. With a default, an empty one counts as unset, as in a shell.
* The content of a variable is a value, never YAML: it cannot add options.
* The content of a variable whose name sounds secret is never shown, in no message: the name of the variable is.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from proxy.text.words import nearest, sounds_secret

Variables = Mapping[str, str]


class Parameters(dict[str, str]):
    """Takes the place of the environment for a file that declares its own variables."""


# It begins with a "$" in every case: searching for one character is 20 times as fast, and no other thread runs then.
# A default ends before the next "${", so that no character is looked at twice, however many begin on one line.
_REFERENCE = re.compile(
    r"\$(?:\$|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}\n$]*+(?:\$(?!\{)[^}\n$]*+)*+))?\}|(?P<broken>\{))"
)
# The characters that YAML would interpret inside an unquoted reference, and private characters that stand in for them.
_SHIELD = {character: chr(0xF0000 + ord(character)) for character in "{}[],:#&*!|>%@`"}
# Characters that YAML 1.1, and so PyYAML, takes for the end of a line; YAML 1.2 and every editor do not.
_NO_BREAKS = {character: chr(0xF0000 + ord(character)) for character in "\x85\u2028\u2029"}
_UNSHIELD = {shield: character for character, shield in (_SHIELD | _NO_BREAKS).items()}


class Unset(NamedTuple):
    """A reference that gives no value: where in the text it begins, and what to tell the person."""

    position: int
    message: str


class _UnsetError(Exception):
    """A reference gives no value, for this reason."""


SHORTEST = 4  # characters: a shorter beginning of a secret is not searched for


def hidden(message: str, references: Mapping[str, str]) -> str:
    """A message with references in place of secret values; `references`: value -> reference."""
    for value, reference in references.items():
        longest = min(len(value), len(message))
        lengths = range(longest, min(len(value), SHORTEST) - 1, -1)  # a long value is shown cut off
        part = next((value[:length] for length in lengths if value[:length] in message), "")
        message = message.replace(part, reference) if part else message
    return message


def shield(text: str) -> str:
    """The text of a file with its references made plain words of the same length, so that YAML passes them unread."""
    return _replaced(_REFERENCE.sub(lambda match: _replaced(match[0], _SHIELD), text), _NO_BREAKS)


def unshield(text: str) -> str:
    """The text as it stood in the file."""
    return text if text.isascii() else _replaced(text, _UNSHIELD)


def _replaced(text: str, characters: dict[str, str]) -> str:
    """The text with one character in place of another."""
    # `translate` takes 20 times as long for text that is not ASCII, and no other thread runs meanwhile.
    for character, other in characters.items():
        text = text.replace(character, other)
    return text


def secrets(text: str, environment: Variables) -> dict[str, str]:
    """The secret variables that the shielded text of a value names: content -> reference."""
    names = {match["name"] for match in _REFERENCE.finditer(unshield(text)) if match["name"]}
    return {environment[name]: f"${{{name}}}" for name in names if sounds_secret(name) and environment.get(name)}


def _unset(name: str, environment: Variables) -> str:
    if isinstance(environment, Parameters):
        return f'unknown parameter "{name}"; {nearest(name, environment) or "declare it in the file"}'
    way_out = f'set it, or give a default: "${{{name}:-value}}"'
    return f'environment variable "{name}" is not set; {way_out}'


def substitute(text: str, environment: Variables, most: int) -> tuple[str, list[Unset]]:
    """The shielded text of one value with every reference replaced, and the first `most` references that could not be.

    Nothing is replaced behind the last of these.
    """
    text = unshield(text)
    parts: list[str] = []
    unset: list[Unset] = []
    end = 0
    for match in _REFERENCE.finditer(text):
        try:
            parts += text[end : match.start()], _value(match, environment)
        except _UnsetError as error:
            unset.append(Unset(match.start(), str(error)))
            if len(unset) == most:
                break
        end = match.end()
    return "".join([*parts, text[end:]]), unset


def _value(match: re.Match[str], environment: Variables) -> str:
    """What stands in place of a reference. Raises _UnsetError with what to tell the person."""
    name, default = match["name"], match["default"]
    if match["broken"]:
        raise _UnsetError('"${" begins no variable; write "${NAME}" or "${NAME:-default}", or "$$" for a "$"')
    if name is None:
        return "$"
    if default is not None:
        return environment.get(name) or default
    if name not in environment:
        raise _UnsetError(_unset(name, environment))
    return environment[name]
