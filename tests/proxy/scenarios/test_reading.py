from __future__ import annotations

import re
from pathlib import Path

import pytest

from proxy.scenarios.reading import SHIPPED, find, read_scenario, shipped

ROW = re.compile(r"^\| `(\S+)` \| (.+) \| (.+) \|$", re.MULTILINE)
TEXT = """\
about: x
parameters: {topic: "*", broker: 1}
steps:
  - {for: 1s, faults: {match: {topic: "${topic}", broker: ${broker}}, do: hold}}
"""


def test_at_least_20_incidents_are_shipped_and_right() -> None:
    assert len(shipped()) >= 20
    for name, file in shipped().items():
        scenario = read_scenario(file).usable()
        assert scenario.sees, f"{name} says not what clients see"


def test_the_page_says_of_each_what_happens_and_what_a_client_sees() -> None:
    """Take the table from here when it fails."""
    scenarios = {name: read_scenario(file).usable() for name, file in shipped().items()}
    expected = [(name, scenario.about, scenario.sees) for name, scenario in scenarios.items()]
    table = "\n".join(f"| `{name}` | {about} | {sees} |" for name, about, sees in expected)
    assert ROW.findall((SHIPPED / "README.md").read_text()) == expected, f"the table of {SHIPPED}/README.md:\n{table}"


def test_the_scenario_on_the_page_is_right(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", (SHIPPED / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    file = tmp_path / "scenario.yaml"
    file.write_text(text)
    assert len(read_scenario(file, {"topic": "payments"}).usable().steps) == 2


def test_parameters_are_put_in_where_the_file_names_them(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(TEXT)

    def match(**setting: str) -> object:
        (fault,) = read_scenario(file, setting).usable().steps[0].faults or ()
        return fault.as_json("x")["match"]

    assert match() == {"topic": "*", "broker": 1}
    assert match(topic="123", broker="2") == {"topic": "123", "broker": 2}


def test_a_parameter_may_be_named_any_number_of_times(tmp_path: Path) -> None:
    before, steps = TEXT.split("steps:\n")
    file = tmp_path / "scenario.yaml"
    file.write_text(before + "steps:\n" + steps * 1_100)
    assert len(read_scenario(file, {"topic": "orders"}).usable().steps) == 1_100


def test_the_environment_of_the_process_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("topic", "secret")
    file = tmp_path / "scenario.yaml"
    file.write_text(TEXT.replace('topic: "*", ', ""))
    _, (problem,) = read_scenario(file).result()
    assert problem.message == 'unknown parameter "topic"; known here: broker'


def test_text_that_is_no_yaml_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("about: {x\n")
    value, problems = read_scenario(file).result()
    assert value is None
    assert len(problems) == 1


def test_a_scenario_is_found_by_its_name_or_its_path(tmp_path: Path) -> None:
    assert find("leader-flap") == SHIPPED / "leader-flap.yaml"
    assert find("mine.yaml") == Path("mine.yaml")
    with pytest.raises(LookupError, match='no scenario is called "leader-flop"; did you mean "leader-flap"'):
        find("leader-flop")
