"""The example project works as a third-party project, whatever the names of its own packages."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest

from plugins.faults.model import FORM
from tests.chaos.strangers import ROOT, Stranger

EXAMPLE = ROOT / "chaos" / "examples" / "orders"
PAGES = ("README.md", "chaos/README.md")
OF_ITS_OWN = ("proxy", "rules", "plugins")
LAST = '''
"""What this project's tests had in their process."""

import sys
from pathlib import Path

import chaos
import plugins
import proxy
import rules

HERE = Path(__file__).parents[1]
INSTALLED = Path(chaos.__file__).parents[1]


def test_its_own_packages_are_its_own():
    for package in (proxy, rules, plugins):
        assert Path(package.__file__).parents[1] == HERE


def test_of_doorkeeper_there_is_chaos_alone(kafka_faults):
    ours = {"proxy", "rules", "plugins", "chaos"}
    files = [Path(it.__file__) for it in sys.modules.values() if getattr(it, "__file__", None)]
    inside = {file.relative_to(INSTALLED).parts[0] for file in files if file.is_relative_to(INSTALLED)}
    assert inside & ours == {"chaos"}
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example, as somebody else has it."""
    return shutil.copytree(EXAMPLE, tmp_path / "orders")


def test_its_tests_pass_whatever_its_own_packages_are_called(project: Path, stranger: Stranger) -> None:
    for name in OF_ITS_OWN:
        (project / name).mkdir()
        (project / name / "__init__.py").touch()
    (project / "tests" / "test_last.py").write_text(LAST)
    result = stranger.tests(project, PYTHONPATH=str(project))
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_one_of_its_tests(page: str) -> None:
    (shown,) = re.findall(r"^```python\n(def .*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    name = re.match(r"def (\w+)", shown)
    assert name
    (file,) = (file for file in (EXAMPLE / "tests").glob("test_*.py") if name[0] in file.read_text())
    assert file.read_text().endswith("\n" + shown)


def test_it_is_typed(project: Path, stranger: Stranger) -> None:
    result = stranger.run(project, "-m", "mypy", "--strict", "--cache-dir", str(project / ".mypy"))
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_failure_tells_what_the_pages_show(project: Path, stranger: Stranger) -> None:
    result = stranger.tests(project, "failing")
    assert "2 failed" in result.stdout, result.stdout + result.stderr
    told = anonymous(result.stdout)
    assert anonymous(failure("chaos/README.md")) in told
    for line in anonymous(failure("README.md")).splitlines():
        assert line in told
    (file,) = re.findall(r"^to repeat it, faults.yaml:\n((?:    .*\n)+)", result.stdout, re.MULTILINE)
    assert not FORM.examine(textwrap.dedent(file), "faults.yaml").problems


def failure(page: str) -> str:
    """What a page shows of a test that fails."""
    (shown,) = re.findall(r"^    -+ kafka_faults -+\n(?:    .*\n)+", (ROOT / page).read_text(), re.MULTILINE)
    return textwrap.dedent(shown)


def anonymous(text: str) -> str:
    """Without what differs from run to run."""
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", text)
    text = re.sub(r"-{4,} kafka_faults -{4,}", "---- kafka_faults ----", text)
    return re.sub(r" +\+\d+\.\d+ s|(?<= )\d+\.\d+(?= s)|(?<=#)\d+|(?<=broker )\d+|(?<=Produce v)\d+", shortened, text)


def shortened(number: re.Match[str]) -> str:
    return "    +N s" if number[0].startswith(" ") else "N"
