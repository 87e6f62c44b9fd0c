"""Sizes and durations as people write them."""

import pytest
from pydantic_core import PydanticCustomError

from proxy.text.quantities import moment, seconds, size


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100 MiB", 104_857_600), ("1GB", 1_000_000_000), ("1.5 KiB", 1536), (512, 512), ("7 B", 7)],
)
def test_a_size_is_in_bytes(text: object, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("500ms", 0.5), ("10s", 10), ("1.5 m", 90), ("2h", 7200), ("1d", 86400)]
)
def test_a_duration_is_in_seconds(text: object, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("0s", 0), ("0.0 ms", 0), ("10s", 10)])
def test_a_moment_may_be_at_once(text: str, expected: float) -> None:
    assert moment(text) == expected


def test_a_duration_that_no_number_can_hold_is_refused() -> None:
    assert moment("36500d") == seconds("36500d") == 36_500 * 86_400
    for read in (seconds, moment):
        with pytest.raises(PydanticCustomError, match='"36501d" is longer than anything lasts; the most is "36500d"'):
            read("36501d")


@pytest.mark.parametrize("value", [None, True, 1.5, "", "10", "ten s", [], "1e3 s", "9" * 5000 + "s"])
def test_neither_a_size_nor_a_duration_is_guessed(value: object) -> None:
    for read in (size, seconds, moment):
        with pytest.raises(PydanticCustomError, match="; "):
            read(value)
