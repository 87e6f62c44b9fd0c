"""A file's content, read again when the file changes."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.text.problems import BadFileError, Problem, Reload
from proxy.text.regular import open_regular
from proxy.text.stamp import stamp
from proxy.text.watched import WatchedFile, inherited


def number(file: str) -> int:
    """A loader: a ValueError where it is none, warnings where it is odd (`odd`)."""
    text = Path(file).read_text()
    if text == "many problems":
        raise BadFileError([Problem(file, None, "one"), Problem(file, None, "two")])
    return int(text)


def odd(value: int) -> list[str]:
    return [f"{value} is odd"] * (value % 2)


def written(file: Path, text: str) -> None:
    """As editors and deployments write: a new file in the place of the old."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "number"
    file.write_text("2")
    return file


def test_a_file_that_did_not_change_is_not_read_again(file: Path) -> None:
    watched = WatchedFile(file, lambda name: [number(name)])
    before = watched.value
    assert watched.look() is None
    assert watched.value is before


def test_a_changed_file_is_another_value_and_its_warnings_are_told_once(file: Path) -> None:
    watched = WatchedFile(file, number, odd)
    written(file, "35")
    assert watched.look() == Reload(str(file), True, ("35 is odd",))
    assert watched.value == 35
    assert watched.look() is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("many problems", ("{}: one", "{}: two")),
        ("x", ("invalid literal for int() with base 10: 'x'",)),
        (None, ("[Errno 2] No such file or directory: '{}'",)),
    ],
)
def test_a_bad_file_never_replaces_a_good_one_and_is_told_once(
    file: Path, text: str | None, said: tuple[str, ...]
) -> None:
    watched = WatchedFile(file, number)
    file.unlink() if text is None else written(file, text)
    assert watched.look() == Reload(str(file), False, tuple(line.format(file) for line in said))
    assert watched.look() is None
    assert watched.value == 2
    written(file, "4")
    assert watched.look() == Reload(str(file), True)
    assert watched.value == 4


def test_what_there_is_to_tell_waits_for_the_next_look_whoever_read_the_file(file: Path) -> None:
    watched = WatchedFile(file, number)
    written(file, "4")
    assert watched.current() == 4
    written(file, "x")
    assert watched.current() == 4
    told = watched.look()
    assert told is not None
    assert not told.taken
    assert watched.look() is None


def test_a_file_that_is_being_written_in_its_place_is_taken_when_it_is_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = WatchedFile(file, number)
    monkeypatch.setattr("proxy.text.stamp.sleep", lambda seconds: file.write_text("123"))
    file.write_text("12")
    watched.look()
    assert watched.value == 123
    assert watched.look() is None


@pytest.mark.parametrize("meanwhile", ["35", ""], ids=["good", "bad"])
def test_what_was_in_a_file_that_changed_while_it_was_read_does_not_count(file: Path, meanwhile: str) -> None:
    texts = ["7"]

    def overwritten(name: str) -> int:
        try:
            return number(name)
        finally:
            if watched is not None and texts:
                written(file, texts.pop())

    watched: WatchedFile[int] | None = None
    watched = WatchedFile(file, overwritten)
    written(file, meanwhile)
    assert (watched.look(), watched.value) == (None, 2)
    assert (watched.look(), watched.value) == (Reload(str(file), True, ()), 7)


def test_a_file_written_in_its_place_is_noticed_by_its_time(file: Path) -> None:
    watched = WatchedFile(file, number)
    file.write_text("4")  # as long as before
    os.utime(file, ns=(1, 1))
    watched.look()
    assert watched.value == 4


def test_what_a_file_says_is_known_while_it_is_the_same(file: Path) -> None:
    watched = WatchedFile(file, number)
    first = stamp(file)
    assert watched.value_at(first) == 2
    written(file, "4")
    assert watched.value_at(stamp(file)) is None
    watched.look()
    assert watched.value_at(first) is None
    assert watched.value_at(stamp(file)) == 4
    written(file, "x")
    watched.look()
    assert watched.value_at(stamp(file)) is None


def test_what_was_put_there_is_in_force_at_once_and_not_read_again(file: Path) -> None:
    watched = WatchedFile(file, number)
    written(file, "4")
    seen = stamp(file)
    assert seen is not None
    watched.put(5, seen)
    assert watched.value == watched.current() == 5
    assert watched.look() == Reload(str(file), True)
    assert watched.look() is None


def test_files_that_belong_together_are_one(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("30")
    files = [str(file), str(other)]
    watched = WatchedFile("both", lambda name: sum(map(number, files)), files=files)
    written(other, "40")
    assert watched.look() == Reload("both", True)
    assert watched.value == 42


def test_a_file_that_is_bad_to_begin_with_is_an_error(file: Path) -> None:
    file.write_text("many problems")
    with pytest.raises(BadFileError, match="one"):
        WatchedFile(file, number)


def test_where_descriptors_are_scarce_the_file_is_read_by_the_next_look(file: Path) -> None:
    scarce = False

    def load(name: str) -> int:
        if scarce:
            raise OSError(errno.EMFILE, "Too many open files")
        return number(name)

    watched = WatchedFile(file, load)
    written(file, "4")
    scarce = True
    with pytest.raises(OSError, match="Too many open files"):
        watched.look()
    scarce = False
    assert watched.look() == Reload(str(file), True)
    assert watched.value == 4


def summed(*files: Path) -> Callable[[str], int]:
    """A loader of several files: the sum of their numbers."""

    def load(name: str) -> int:
        total = 0
        for file in files:
            with open_regular(file) as opened:
                total += int(opened.read())
        return total

    return load


def test_a_file_that_is_bad_to_begin_with_has_what_another_process_had_in_force(file: Path) -> None:
    file.write_text("x")
    with inherited({str(file): b"7"}):
        watched = WatchedFile(file, summed(file))
    assert watched.value == 7
    assert watched.look() == Reload(str(file), False, ("invalid literal for int() with base 10: b'x'",))
    assert watched.look() is None
    assert watched.value_at(stamp(file)) is None
    written(file, "8")
    assert watched.look() == Reload(str(file), True, ())
    assert watched.value == 8


def test_a_good_file_has_its_own_content_whatever_was_in_force(file: Path) -> None:
    with inherited({str(file): b"7"}):
        assert WatchedFile(file, summed(file)).value == 2


def test_nothing_is_inherited_by_halves_or_later(file: Path) -> None:
    file.write_text("x")
    other = file.with_name("other")
    with inherited({str(file): b"7"}), pytest.raises(OSError, match="other"):
        WatchedFile("both", summed(other, file), files=[str(other), str(file)])
    with pytest.raises(ValueError, match="invalid literal"):
        WatchedFile(file, summed(file))


def test_the_contents_of_files_are_told_only_while_they_are_in_force(file: Path) -> None:
    watched = WatchedFile(file, summed(file))
    assert watched.contents(1) == {str(file): b"2"}
    assert watched.contents(0) == {str(file): None}
    written(file, "x")
    assert watched.contents(1) == {str(file): None}
    watched.look()
    assert watched.contents(1) == {str(file): None}
    file.unlink()
    assert watched.contents(1) == {str(file): None}
