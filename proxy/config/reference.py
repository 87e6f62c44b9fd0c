"""The reference of options: a table in Markdown, made from the same schema that editors are given.

`python -m proxy.config.reference` renews it in `README.md` beside this module; a test fails when it is stale. The text
above the table in that page is written by hand. NAME in a path stands for a name that the file's author chooses.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from proxy.config.schema import schema

PAGE = Path(__file__).with_name("README.md")
START = "| option | default | meaning |\n|---|---|---|\n"


class Option(NamedTuple):
    """One line of the reference. `default` is written as in the file."""

    path: str
    default: str
    meaning: str


def options() -> list[Option]:
    """All options in the order of their declarations, those of the built-in plugins included."""
    whole = schema()
    return list(_options(whole, whole["$defs"], ""))


def table() -> str:
    rows = (f"| `{path}` | {default} | {_cell(meaning)} |\n" for path, default, meaning in options())
    return START + "".join(rows)


def renewed(page: str) -> str:
    """The page with the current table, which is the last thing in the page. Raises ValueError if there is no table."""
    above, start, _ = page.partition(START)
    if not start:
        raise ValueError(f"{PAGE} has no table of options; write its first two lines:\n{START}")
    return above + table()


def _options(section: dict[str, Any], definitions: dict[str, Any], prefix: str) -> Iterator[Option]:
    for name, option in section["properties"].items():
        path = prefix + name
        yield Option(path, _default(option, name in section.get("required", ())), option["description"])
        for below, inner in _sections(option, definitions, path + "."):
            yield from _options(inner, definitions, below)


def _sections(part: dict[str, Any], definitions: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sections that may stand at an option, each with its path."""
    if "$ref" in part:
        yield prefix, definitions[part["$ref"].rpartition("/")[2]]
    for plugin, inner in part.get("properties", {}).items():
        yield f"{prefix}{plugin}.", inner
    for choice in part.get("anyOf", ()):
        yield from _sections(choice, definitions, prefix)
    if isinstance(part.get("items"), dict):
        yield from _sections(part["items"], definitions, prefix)
    if isinstance(part.get("additionalProperties"), dict):
        yield from _sections(part["additionalProperties"], definitions, prefix + "NAME.")


def _default(option: dict[str, Any], required: bool) -> str:
    if required:
        return "required"
    if "default" not in option:  # a section whose options have their own defaults
        return "as below"
    default = option["default"]
    if default is None or default == []:
        return "none"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`[{', '.join(default)}]`" if isinstance(default, list) else f"`{default}`"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
