"""The page for plugin authors is complete, and its examples are real code."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from inspect import isfunction
from pathlib import Path
from typing import get_args

import pytest
import yaml

import proxy.plugin
from plugins.examples.add_header import AddHeader
from plugins.examples.mask_field import MaskField
from plugins.examples.tenant_topics import TenantTopics
from proxy.core import decisions, decorators
from proxy.core.arrival import Arrival, NotServed
from proxy.core.commands import Command
from proxy.core.context import Connection, Context
from proxy.core.outcome import Outcome
from proxy.plugin import Plugin, Services
from proxy.testing.played import PlayedEvent

FOLDER = Path(__file__).parents[2] / "plugins"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = {"add_header": AddHeader, "mask_field": MaskField, "tenant_topics": TenantTopics}


def test_the_example_in_the_page_is_the_one_that_is_tested() -> None:
    assert f"```python\n{(FOLDER / 'examples' / 'add_header.py').read_text(encoding='utf-8')}```\n" in PAGE


def test_every_example_is_in_the_page() -> None:
    there = {path.stem for path in (FOLDER / "examples").glob("[a-z]*.py")}
    assert there == EXAMPLES.keys()
    assert [name for name in there if f"](examples/{name}.py)" not in PAGE] == []


@pytest.mark.parametrize("path", ["talk.py", *(f"test_{name}.py" for name in EXAMPLES)])
def test_what_tests_of_examples_import_is_there_for_a_package_too(path: str) -> None:
    """With them an example can be copied. Generated messages of every API are in a module of their own."""
    text = (Path(__file__).parent / "examples" / path).read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:from|import) (\S+)", text, re.MULTILINE))
    ours = {name for name in imported if name.startswith(("proxy", "rules", "plugins", "tests"))}
    assert ours - {"tests.plugins.examples.talk", f"plugins.examples.{path[5:-3]}"} <= {"proxy.plugin", "proxy.testing"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_an_example_says_of_its_options_is_right(name: str) -> None:
    text = (FOLDER / "examples" / f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    shown = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("    "))
    (entry,) = yaml.safe_load(shown)
    assert list(entry) == [name]
    assert EXAMPLES[name].Options(**entry[name])


def test_every_service_is_in_the_page() -> None:
    assert [each.name for each in fields(Services) if f".{each.name}" not in PAGE] == []


def test_every_decision_every_step_and_every_mark_is_in_the_page() -> None:
    declared = {name: value for name, value in vars(decisions).items() if name[0] != "_"}
    own = {name for name, value in declared.items() if getattr(value, "__module__", "") == decisions.__name__}
    functions = {name: value for name, value in vars(decorators).items() if isfunction(value)}
    marks = {name for name, value in functions.items() if value.__module__ == decorators.__name__ and name[0] != "_"}
    assert "on_request" in marks
    assert marks < vars(proxy.plugin).keys()
    assert sorted(name for name in own | marks if name not in PAGE) == []


def test_every_event_and_every_command_of_a_playbook_is_in_the_page() -> None:
    played = {each.__name__ for each in (*get_args(PlayedEvent), *get_args(Command))} - {"Perform"}  # made at once
    assert sorted(name for name in played if f"`{name}(" not in PAGE) == []


def test_all_that_a_handler_is_given_is_in_the_page() -> None:
    given = {each.name for cls in (Context, Connection, Arrival, NotServed) for each in fields(cls)}
    # What only the core and the rewriting of addresses use.
    own = {"came", "sent", "answered", "sample", "still", "unneeded", "minds_errors", "is_large"}
    own |= {"edition", "reached_by"}
    assert sorted(name for name in (given - own) | set(Outcome._fields) if f"`.{name}`" not in PAGE) == []


def test_what_a_plugin_may_have_is_in_the_page() -> None:
    methods = {name for name, value in vars(Plugin).items() if callable(value) and not name.startswith("_")}
    assert sorted(name for name in methods - {"handlers", "observers", "holders", "Options"} if name not in PAGE) == []


@pytest.mark.parametrize("code", CODE)
def test_the_code_in_the_page_runs(code: str) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "page"})


def test_the_code_in_the_page_is_typed(tmp_path: Path) -> None:
    for number, code in enumerate(CODE):
        (tmp_path / f"shown_{number}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(tmp_path.iterdir()))]
    result = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
