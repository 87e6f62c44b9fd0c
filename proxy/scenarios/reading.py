"""Reading a scenario: a file, or one that is shipped, with its parameters filled in.

Rules:
* `${topic}` in a file stands for the parameter "topic": the value that is set, or else the default that the file
  declares. The environment of the process is not used, so that a scenario is the same everywhere.
* An undeclared parameter is a mistake, both in the file and among the values that are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

import chaos
from proxy.scenarios.checks import check
from proxy.scenarios.model import ScenarioFile, written
from proxy.text.environment import Parameters
from proxy.text.file import Examined, Form
from proxy.text.problems import BadFileError, Finding
from proxy.text.words import nearest
from proxy.text.yaml_document import read

START = 'begin with "about:" and "steps:" (chaos/scenarios/README.md shows a whole file)'
FORM = Form(ScenarioFile, "scenario", START, largest=1 << 20, check=check)
SHIPPED = Path(chaos.__file__).with_name("scenarios")


class _NotYetKnown(Parameters):
    """Parameters for the first pass, before the declarations are read: every one exists, and is empty."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return ""


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package, by name."""
    return {file.stem: file for file in sorted(SHIPPED.glob("*.yaml"))}


def find(scenario: str) -> Path:
    """The file of a scenario: a path, or the name of one that is shipped. Raises LookupError with a way out."""
    known = shipped()
    if scenario in known:
        return known[scenario]
    if Path(scenario).exists() or "/" in scenario or scenario.endswith((".yaml", ".yml")):
        return Path(scenario)
    raise LookupError(f'no scenario is called "{scenario}"; {nearest(scenario, known)}')


def read_scenario(file: Path, setting: Mapping[str, str] | None = None) -> Examined[ScenarioFile]:
    """The result of reading a file with these parameters. Raises OSError if it cannot be read now."""
    setting, name = setting or {}, str(file)
    try:
        text = FORM.text(name)
    except BadFileError as error:
        return Examined(name, problems=list(error.problems))
    declared = _declared(text)
    examined = FORM.examine(text, name, Parameters({**declared, **setting}))
    examined.note(_undeclared(setting, declared))
    return examined


def _declared(text: str) -> dict[str, str]:
    """The parameters that a file declares. The file may have any mistakes."""
    found: Any = None
    with suppress(yaml.YAMLError):
        value = read(text, _NotYetKnown()).value
        found = value.get("parameters") if isinstance(value, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: written(default) for name, default in found.items()}


def _undeclared(setting: Mapping[str, str], declared: Mapping[str, str]) -> Iterable[Finding]:
    for name in setting.keys() - declared.keys():
        known = nearest(name, declared) or "it has none"
        yield Finding(("parameters",), f'the scenario has no parameter "{name}"; {known}')
