"""Text that is not YAML: PyYAML's error messages in plain words, with their place.

The parser speaks of tokens; a person has a file in front of them, and wants to know what to change.
"""

import yaml

from proxy.text.places import Place

# A part of what the parser says -> a fact and a way out; the first that fits.
_SAYINGS = (
    ("while scanning an alias", 'a "*" cannot stand alone; put it in quotes: "*"'),
    ("character '\\t'", "a tab stands where YAML wants spaces; indent with spaces"),
    ("character '`'", 'a "`" cannot begin a value; put the value in quotes'),
    ("character '@'", 'an "@" cannot begin a value; put the value in quotes'),
    ("character '%'", 'a "%" cannot begin a value; put the value in quotes'),
    ("mapping values are not allowed", 'a ":" stands where no option can begin; check the indent, or quote the value'),
    ("could not find expected ':'", 'this line has no ":"; write "name: value"'),
    ("while scanning a quoted scalar", "a quote opens here and is never closed; close it"),
    ("while parsing a flow sequence", 'a list opens here and is never closed; add "]" or a ","'),
    ("while parsing a flow mapping", 'a mapping opens here and is never closed; add "}" or a ","'),
    ("while parsing a block", "the indent fits no line above; align it with its neighbours"),
    ("found unknown escape character", 'an unknown "\\" in double quotes; use single quotes'),
    ("levels deep", "nested too deep; nothing here needs so many levels"),
    ("expected the node content", "no value can begin like this; put it in quotes"),
    ("special characters are not allowed", "a control character stands here; remove it"),
)
# For these the place of the opening helps more than the place where the parser gave up.
_AT_THE_OPENING = ("quoted scalar", "flow sequence", "flow mapping")


def described(error: yaml.YAMLError, text: str) -> tuple[Place, str]:
    """The place of a syntax error in a text, its fact and its way out."""
    context = getattr(error, "context", None) or ""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    opening = any(word in context for word in _AT_THE_OPENING)
    mark = getattr(error, "context_mark", None) if opening else None
    mark = mark or getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = f"{problem} {context}"
    message = next((words for part, words in _SAYINGS if part in said), f"not YAML: {problem}; correct this line")
    return Place.of(mark) if mark else place_after(text[: getattr(error, "position", 0)]), message


def place_after(text: str) -> Place:
    """The place of the character that follows a text."""
    return Place(text.count("\n") + 1, len(text) - text.rfind("\n"))
