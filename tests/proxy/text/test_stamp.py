"""Stamps: they show every kind of change of a file."""

import os
from pathlib import Path
from time import time

import pytest

from proxy.text.stamp import MOMENT, stamp, stamps_at_rest


def test_a_file_that_stays_has_the_same_stamp(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    assert stamp(file) == stamp(str(file))


def test_a_file_that_is_rewritten_replaced_or_removed_has_another(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    assert stamp(file) is None
    file.write_text("a")
    seen = [stamp(file)]
    file.write_text("longer")
    seen.append(stamp(file))
    other.write_text("longer")
    os.replace(other, file)
    seen.append(stamp(file))
    os.utime(file, ns=(1, 1))
    seen.append(stamp(file))
    file.unlink()
    seen.append(stamp(file))
    assert len(set(seen)) == len(seen)


def test_a_file_has_settled_when_it_was_left_alone_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    assert stamps_at_rest([file]) == (None,)
    waited: list[float] = []

    def another_write(seconds: float) -> None:
        waited.append(seconds)
        file.write_text("x" * len(waited))
        if len(waited) == 3:
            monkeypatch.setattr("proxy.text.stamp.time", lambda: time() + 2 * MOMENT)

    monkeypatch.setattr("proxy.text.stamp.sleep", another_write)
    file.write_text("")
    assert stamps_at_rest([file]) == (stamp(file),)
    assert len(waited) == 3
    assert all(0 < seconds <= MOMENT for seconds in waited)


def test_a_file_that_is_never_left_alone_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr("proxy.text.stamp.sleep", lambda seconds: file.touch())
    assert stamps_at_rest([file]) == (stamp(file),)


def test_files_that_belong_together_have_settled_when_the_last_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    second.write_text("old")

    def write_the_second(seconds: float) -> None:
        second.write_text("new")
        monkeypatch.setattr("proxy.text.stamp.time", lambda: time() + 2 * MOMENT)

    monkeypatch.setattr("proxy.text.stamp.sleep", write_the_second)
    first.write_text("new")
    assert stamps_at_rest([first, second]) == (stamp(first), stamp(second))
    assert second.read_text() == "new"


@pytest.mark.parametrize("age", [-3600, 3600])
def test_a_clock_that_is_wrong_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr("proxy.text.stamp.time", lambda: time() + age)
    monkeypatch.setattr("proxy.text.stamp.sleep", lambda seconds: pytest.fail("waited"))
    assert stamps_at_rest([file]) == (stamp(file),)
