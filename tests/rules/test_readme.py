"""The page about rules agrees with the declarations, and its example is valid."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from rules import examine_text
from rules.hours import Hours
from rules.model import AclFile, AclRule

README = (Path(__file__).parents[2] / "rules" / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_]+)` \| (.+?) \| `(.+?)` \|$", re.MULTILINE)


@pytest.mark.parametrize(("heading", "section"), [("A file", AclFile), ("A rule under", AclRule), ("`during`", Hours)])
def test_every_option_is_documented_and_every_documented_option_exists(heading: str, section: type[BaseModel]) -> None:
    (part,) = re.findall(rf"^##+ {heading}.*?\n(.*?)(?=^##|\Z)", README, re.MULTILINE | re.DOTALL)
    declared = [
        (option.alias or name, option.description, str((option.examples or [])[0]))
        for name, option in section.model_fields.items()
    ]
    assert sorted(ROW.findall(part)) == sorted(declared)


def test_the_example_is_right() -> None:
    example = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
    snapshot, problems = examine_text(example, "acl.yaml", {})
    assert snapshot is not None
    assert not problems
