"""What checks remember has bounds."""

from __future__ import annotations

import pytest

from plugins.acl import remembered
from plugins.acl.remembered import Remembered


def test_the_oldest_are_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 2)
    known = Remembered[str, int]()
    for key in ("a", "b", "a", "c"):
        known.put(key, ord(key), 10)
    assert (known.get("a"), known.get("b"), known.get("c"), known.held) == (97, None, 99, 20)


def test_the_oldest_are_forgotten_where_they_take_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "ROOM", 100)
    known = Remembered[str, int]()
    known.put("a", 1, 60)
    known.put("b", 2, 60)
    assert (known.get("a"), known.get("b"), known.held) == (None, 2, 60)
    known.put("c", 3, 101)
    assert (known.get("b"), known.get("c"), known.held) == (None, None, 0)


def test_what_is_forgotten_is_not_counted() -> None:
    known = Remembered[str, int]()
    known.put("a", 1, 60)
    known.forget("a")
    known.forget("a")
    assert (known.get("a"), known.held) == (None, 0)
