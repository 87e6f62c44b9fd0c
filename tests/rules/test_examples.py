"""The example files are valid, and decide the questions beside them as expected."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from proxy.cli import main

EXAMPLES = sorted((Path(__file__).parents[2] / "rules" / "examples").glob("*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_answers_its_questions(file: Path) -> None:
    questions = file.with_suffix(".jsonl")
    result = CliRunner().invoke(main, ["explain", str(file), "--questions", str(questions)])
    assert result.stderr == ""
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(questions.read_text().splitlines())


def test_there_is_an_example() -> None:
    assert EXAMPLES
