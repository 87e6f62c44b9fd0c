"""Load scenario files: read and validate them, and report all mistakes in all files at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proxy.text.file import Form
from proxy.text.problems import BadFileError, Finding, Problem
from rules.checks import unsaid
from tests.acl.language import Given, Scenarios, Step, Told
from tests.acl.mistakes import mistakes

FOLDER = Path(__file__).parent / "scenarios"
FORM = Form(Scenarios, "file of scenarios", 'begin with "scenarios:"', largest=4 << 20)


@dataclass(frozen=True)
class Scenario:
    """One scenario, and its number among all."""

    number: int
    theme: str  # the name of its file
    unmatched: str
    name: str
    given: Given
    steps: tuple[Step, ...]
    people: tuple[str, ...] = ()  # users beside those in its steps


def load(folder: Path = FOLDER) -> list[Scenario]:
    """All scenarios of a folder. Raises BadFileError with everything wrong in any of the files."""
    files = sorted(folder.glob("*.yaml"))
    problems: list[Problem] = []
    scenarios: list[Scenario] = []
    for file in files:
        try:
            told = examined(FORM.text(str(file)), file.name)
        except BadFileError as error:
            problems += error.problems
            continue
        for one in told.scenarios:
            steps = one.steps or (_only(one),)
            scenarios.append(Scenario(len(scenarios) + 1, file.stem, told.unmatched, one.name, one.given, steps))
    if problems:
        raise BadFileError(problems)
    return scenarios


def _only(told: Told) -> Step:
    """The one step of a scenario with `when`."""
    left_out = {name: option.get_default(call_default_factory=True) for name, option in Step.model_fields.items()}
    return Step.model_construct(None, **{**left_out, **dict(told.when or ()), "then": told.then, "shows": told.shows})


def examined(text: str, name: str) -> Scenarios:
    """Parse and check the text of a file. Raises BadFileError."""
    found = FORM.examine(text, name, {})
    raw = found.reading.value
    listed = raw.get("scenarios") if isinstance(raw, dict) else None
    for index, one in enumerate(listed if isinstance(listed, tuple) else ()):
        given = one.get("given") if isinstance(one, dict) else None
        found.note(Finding(("scenarios", index, "given", *path), message) for path, message, _ in unsaid(given))
    if found.value is not None:
        for index, told in enumerate(found.value.scenarios):
            found.note(mistakes(("scenarios", index), told, closes=found.value.unmatched == "allow"))
    file, problems = found.result()
    if file is None:
        raise BadFileError(problems)
    return file
