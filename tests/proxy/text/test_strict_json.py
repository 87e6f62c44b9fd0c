"""A JSON text that could mean two things is none."""

from __future__ import annotations

import pytest

from proxy.text.strict_json import strict_json


def test_json_is_read() -> None:
    assert strict_json('{"a": [1, 2.5, null, {"b": "c"}]}') == {"a": [1, 2.5, None, {"b": "c"}]}
    assert strict_json(b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_a_name_that_stands_twice_is_told(text: str) -> None:
    with pytest.raises(ValueError, match='"a" stands in one object twice'):
        strict_json(text)


def test_a_long_name_is_cut() -> None:
    name = "n" * 1_000
    with pytest.raises(ValueError, match=r'^"n{60}" stands in one object twice$'):
        strict_json(f'{{"{name}": 1, "{name}": 2}}')


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not_are_told(text: str) -> None:
    with pytest.raises(ValueError, match="is no JSON"):
        strict_json(f"[{text}]")
