"""The environment of a clone."""

import importlib.util
import os
import re
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from deploy.environment import INCLUDES, PIP_IS_MISSING, ROOT, CannotError, Environment, declared, fingerprint


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    return Environment(tmp_path / "venv")


def test_an_environment_is_filled_once_for_each_pyproject(environment: Environment) -> None:
    assert not environment.is_filled("demo", "one")
    (environment.folder / ".filled-for-demo").write_text("one")
    assert environment.is_filled("demo", "one")
    assert not environment.is_filled("demo", "two")
    assert not environment.is_filled("test", "one")


def test_who_has_what_the_tests_need_has_what_the_demo_and_its_report_need(environment: Environment) -> None:
    (environment.folder / ".filled-for-test").write_text("one")
    assert all(environment.is_filled(extra, "one") for extra in INCLUDES)
    assert set(INCLUDES) == {"demo", "reports", "test"}


def test_an_environment_that_is_gone_is_not_filled(tmp_path: Path) -> None:
    (tmp_path / ".filled-for-demo").write_text("one")
    assert not Environment(tmp_path).is_filled("demo", "one")


def test_a_program_runs_in_the_clone_with_the_environment_first_in_its_path(
    environment: Environment, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import os, sys; print(os.getcwd(), os.environ['PATH'].split(':')[0], sys.prefix)"
    assert environment.run("-c", program) == 0
    assert capfd.readouterr().out.split() == [str(ROOT), str(environment.folder / "bin"), str(environment.folder)]
    assert environment.run("-c", "raise SystemExit(3)") == 3


def test_what_runs_beside_something_is_ended_with_it(environment: Environment, tmp_path: Path) -> None:
    pipe, program = (
        tmp_path / "pipe",
        "import os, signal, sys; open(sys.argv[1], 'w').write(os.getcwd()); signal.pause()",
    )
    os.mkfifo(pipe)
    with environment.beside("-c", program, str(pipe)):
        assert pipe.read_text() == str(ROOT)


def test_an_environment_without_pip_gets_one_from_elsewhere_or_a_line_says_what_to_install(
    environment: Environment,
) -> None:
    if importlib.util.find_spec("pip") is None and importlib.util.find_spec("ensurepip") is None:
        with pytest.raises(CannotError, match=re.escape(PIP_IS_MISSING)):
            environment._pip()
        return
    pip = environment._pip()
    listing = subprocess.run([*pip, "list", "--format=json"], capture_output=True, text=True, check=True)
    assert "pydantic" not in listing.stdout


def test_a_fingerprint_depends_on_the_declarations_and_on_python() -> None:
    digest, version = fingerprint().split()
    assert len(digest) == 64
    assert version.startswith("3.")


def test_what_is_compiled_is_compiled_anew_when_it_changes() -> None:
    extensions = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["ext-modules"]
    sources = {ROOT / name for one in extensions for name in (*one["sources"], *one.get("depends", ()))}
    assert sources
    assert sources <= set(declared())
