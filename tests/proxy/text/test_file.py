"""A file that people write, read by its declaration."""

from pathlib import Path

import pytest
from pydantic import Field

from proxy.text.file import Form, Section
from proxy.text.problems import BadFileError, Finding
from proxy.text.yaml_document import MOST


class Door(Section):
    width: int = Field(default=1, description="How wide it is.", examples=[1])


FORM = Form(Door, "door", 'begin with "width:"', largest=1 << 20)


def test_a_right_file_gives_its_values(tmp_path: Path) -> None:
    (tmp_path / "door.yaml").write_text("width: 3\n")
    text = FORM.text(str(tmp_path / "door.yaml"))
    assert FORM.examine(text, "door.yaml", {}).result() == (Door(width=3), [])


def test_a_warning_passes_and_a_problem_does_not() -> None:
    for warning, value in ((True, Door(width=3)), (False, None)):
        examined = FORM.examine("width: 3\n", "door.yaml", {})
        examined.note([Finding(("width",), "narrow; widen it", warning)])
        found, (problem,) = examined.result()
        assert found == value
        assert (problem.file, problem.place, problem.message) == ("door.yaml", (1, 8), "narrow; widen it")


@pytest.mark.parametrize("text", ["", "- a\n", "width: x\n", "widht: 1\n", "a: [\n"])
def test_a_file_with_a_problem_gives_no_value(text: str) -> None:
    value, problems = FORM.examine(text, "door.yaml", {}).result()
    assert value is None
    assert problems


def test_a_file_that_is_too_large_is_refused_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(BadFileError, match="larger than 1 MiB; this is no door, check the path"):
        FORM.text(str(tmp_path / "large.yaml"))


def test_nothing_is_said_of_the_values_of_a_file_that_was_not_read_to_its_end() -> None:
    _, problems = FORM.examine("widht:\n" + "  - *b\n" * MOST, "door.yaml", {}).result()
    assert not [problem for problem in problems if "unknown option" in problem.message]
    assert len(problems) == MOST + 1
