"""Edits items of a list in a file that a person wrote: replaces some, adds some, and leaves all else as it was written.

Rules:
* An item is a mapping. Its new content is given as its options, `name: value`, one line each.
* No comment is lost: comments inside an item that is replaced or removed stand above its place afterwards.
* Lists in lines ("- a") and in brackets ("[a]") stay what they are.
* The text is YAML that was read without a problem. The new text must be read again before it is used: a list may be
  written in a way that this module does not foresee.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from proxy.text.environment import shield, unshield
from proxy.text.pieces import Pieces
from proxy.text.yaml_document import FASTEST

ItemOptions = Sequence[str]
_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\r\n]*")
_LINE_END = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


class UnforeseenError(ValueError):
    """A list is written in a way that this module does not foresee."""


class Edit(NamedTuple):
    """The text between two positions is to be replaced by `instead`."""

    start: int
    end: int
    instead: str


def rewritten(text: str, key: str, instead: Mapping[int, Sequence[ItemOptions]], added: Sequence[ItemOptions]) -> str:
    """The text with some items of the list under `key` replaced (`instead`, by their indices), and with items added.

    Raises UnforeseenError.
    """
    edits = sorted(_List(text, key).edits(instead, added))
    for edit in reversed(edits):
        text = text[: edit.start] + edit.instead + text[edit.end :]
    return text


class _List:
    """The list under one key of the file's mapping."""

    def __init__(self, text: str, key: str) -> None:
        self.text = text
        self.key = key
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.root = _composed(shield(text))
        self.node = next((value for name, value in self.root.value if unshield(name.value) == key), None)

    def edits(self, instead: Mapping[int, Sequence[ItemOptions]], added: Sequence[ItemOptions]) -> Iterator[Edit]:
        """The edits to be made."""
        node = self.node
        if node is None:
            yield self._after(_end(self.root), f"{self.key}:{self.newline}{self._lines(added, 2)}")
        elif not isinstance(node, yaml.SequenceNode):
            yield Edit(node.start_mark.index, node.end_mark.index, "")  # null, in one of its spellings
            yield self._after(node.end_mark.index, self._lines(added, 2))
        elif node.flow_style:
            yield from self._in_brackets(node, instead, added)
        else:
            yield from self._in_lines(node, instead, added)

    def _in_lines(
        self, node: Any, instead: Mapping[int, Sequence[ItemOptions]], added: Sequence[ItemOptions]
    ) -> Iterator[Edit]:
        column = node.start_mark.column
        dash = re.compile(rf"^ {{{column}}}-(?=\s|$)", re.MULTILINE)
        for index, items in instead.items():
            before = _end(node.value[index - 1]) if index else node.start_mark.index - column
            found = dash.search(self.text, before)
            if found is None:  # a list that begins behind a ":" or an "&", or lines that end in "\r" alone
                raise UnforeseenError(f'the "-" of item {index + 1} under "{self.key}" was not found')
            end = self._line_end(_end(node.value[index]))
            comments = [" " * column + comment for comment in self._comments(found.start(), end, node.value[index])]
            lines = "".join(comment + self.newline for comment in comments)
            yield Edit(found.start(), end, lines + self._lines(items, column))
        if added:
            yield self._after(_end(node), self._lines(added, column))

    def _in_brackets(
        self, node: Any, instead: Mapping[int, Sequence[ItemOptions]], added: Sequence[ItemOptions]
    ) -> Iterator[Edit]:
        begin = node.start_mark.index + 1
        if added:
            yield Edit(begin, begin, self._on_one_line(added) + (", " if node.value else ""))
        for index, items in instead.items():
            item = node.value[index]
            start, end = item.start_mark.index, item.end_mark.index
            if not items and index + 1 < len(node.value):
                end = node.value[index + 1].start_mark.index  # with the comma
            comments = "".join(f"{self.newline}  {comment}" for comment in self._comments(start, end, item))
            above = f"{comments}{self.newline}  " if comments else ""
            yield Edit(start, end, above + self._on_one_line(items))

    def _after(self, position: int, lines: str) -> Edit:
        """Adds lines after the line of this position."""
        end = self._line_end(position)
        ended = not self.text[:end] or self.text[end - 1] in "\r\n"
        return Edit(end, end, lines if ended else self.newline + lines)

    def _line_end(self, position: int) -> int:
        """Where the line of this position ends. A position behind a line break (after a block scalar) is an end."""
        if self.text[position - 1 : position] in ("\r", "\n"):
            return position
        found = _LINE_END.match(self.text, position)
        assert found is not None, "every line ends"
        return found.end()

    def _comments(self, start: int, end: int, item: Any) -> Iterator[str]:
        within = [(scalar.start_mark.index, scalar.end_mark.index) for scalar in _scalars(item)]
        for comment in _COMMENT.finditer(self.text, start, end):
            if not any(begin <= comment.start() < stop for begin, stop in within):
                yield comment[0].rstrip()

    def _lines(self, items: Sequence[ItemOptions], column: int) -> str:
        return "".join(
            f"{' ' * column}{'  ' if number else '- '}{option}{self.newline}"
            for options in items
            for number, option in enumerate(options)
        )

    def _on_one_line(self, items: Sequence[ItemOptions]) -> str:
        return ", ".join("{" + ", ".join(options) + "}" for options in items)


def _composed(text: str) -> Any:
    try:
        return yaml.compose(Pieces(text), Loader=FASTEST)
    except (yaml.YAMLError, UnicodeEncodeError):
        return yaml.compose(Pieces(text), Loader=yaml.SafeLoader)


def _end(node: Any) -> int:
    """Where the last value in a node ends. The parser's end of a list includes blank lines and comments behind it."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        end: int = node.end_mark.index
        return end
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _scalars(node: Any) -> Iterator[Any]:
    if isinstance(node, yaml.ScalarNode):
        yield node
        return
    for child in node.value:
        for one in child if isinstance(child, tuple) else (child,):
            yield from _scalars(one)
