"""All checks, and then all tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.checks import AHEAD, STATIC, run
from deploy.environment import ROOT, Environment


class Recording(Environment):
    """An environment that notes what it is told to run, and where the named module would fail."""

    def __init__(self, failing: str = "", code: int = 1) -> None:
        super().__init__(Path("/nowhere"))
        self.failing = failing
        self.code = code
        self.commands: list[tuple[str, ...]] = []

    def run(self, *arguments: str) -> int:
        self.commands.append(arguments)
        return self.code if self.failing and self.failing in arguments else 0

    @contextmanager
    def beside(self, *arguments: str) -> Iterator[None]:
        self.commands.append(("begin", *arguments))
        yield
        self.commands.append(("end", *arguments))


def test_the_tests_come_last_with_the_arguments_given() -> None:
    environment = Recording()
    assert run(environment, ["-k", "config"]) == 0
    assert environment.commands[:-1] == list(STATIC.values())
    assert environment.commands[-1][:2] == ("-m", "pytest")
    assert environment.commands[-1][-2:] == ("-k", "config")


def test_downloads_for_all_tests_are_fetched_beside_the_checks_and_the_tests() -> None:
    environment = Recording()
    assert run(environment, ["--durations=9"]) == 0
    assert environment.commands[0] == ("begin", *AHEAD)
    assert environment.commands[-1] == ("end", *AHEAD)
    assert environment.commands[-2][-1] == "--durations=9"


def test_a_failing_check_fails_the_run_but_the_tests_are_still_run(capsys: pytest.CaptureFixture[str]) -> None:
    environment = Recording("mypy")
    assert run(environment, []) == 1
    assert environment.commands[-2][:2] == ("-m", "pytest")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "deploy: failed: mypy; what they found is said before the tests"


def test_the_exit_code_of_failing_tests_is_kept() -> None:
    assert run(Recording("pytest", 5), []) == 5


def test_ci_runs_what_the_readme_says() -> None:
    ci = ROOT / ".ci" / "run"
    assert "python3 -m deploy test" in ci.read_text()
    assert ci.stat().st_mode & 0o111
