from __future__ import annotations

import pytest
import yaml

from proxy.text.pieces import Pieces
from proxy.text.places import Place
from proxy.text.syntax import described
from proxy.text.yaml_document import FASTEST, read

MANY = 1_000_000
LONG = {
    "a value": "a: " + "x" * MANY,
    "a value in quotes": "a: '" + "x, " * (MANY // 3) + "'",
    "a value of other letters": "a: " + "é" * MANY,
    "a comment": "#" + "x" * MANY,
    "comments": "#\n" * (MANY // 2),
    "empty lines": "\n" * MANY,
}


class Counted(Pieces):
    """Counts how often it is asked."""

    reads = 0

    def read(self, size: int = -1, /) -> str:
        self.reads += 1
        return super().read(size)


def test_they_are_the_text() -> None:
    pieces = Pieces("é, and more")
    assert [pieces.read(4), pieces.read(0), pieces.read(), pieces.read(), pieces.read(1)] == [
        "é, a",
        "",
        "nd more",
        "",
        "",
    ]


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_is_long_is_asked_for_a_piece_at_a_time(text: str) -> None:
    pieces = Counted(text)
    parser = FASTEST(pieces)
    while parser.check_event():
        parser.get_event()
    assert pieces.reads > MANY // (64 << 10), "others could not run in between"


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_places_behind_what_is_long_are_right(text: str) -> None:
    reading = read(f"{text}\nb: [1,\n  ü: 2]\n", {})
    lines = text.count("\n") + 2
    assert not reading.problems
    assert reading.place(("b",)) == Place(lines, 4)
    assert reading.place(("b", 1, "ü")) == Place(lines + 1, 6)


def test_a_text_that_cannot_be_encoded_is_still_no_yaml_at_its_place() -> None:
    text = "a: 1\nb: \ud800"
    with pytest.raises(yaml.YAMLError) as refused:
        read(text, {})
    assert described(refused.value, text)[0] == Place(2, 4)
