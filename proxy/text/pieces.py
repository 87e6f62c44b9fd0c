"""Pieces: a text that a parser reads a piece at a time, so that other threads run in between.

libyaml is C: no other thread runs from one of its events to the next. A value, a comment or empty lines of 10 MB
blocked a worker for 0.1 to 0.4 s. If it asks Python for each piece, others wait for milliseconds, and it is no slower.
"""

from __future__ import annotations


class Pieces:
    """A text, as a file that can be read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0

    def read(self, size: int = -1, /) -> str:
        """The next `size` characters, or (-1) all that are left; an empty text at the end."""
        begin, self._read = self._read, self._read + size if size >= 0 else len(self._text)
        return self._text[begin : self._read]
