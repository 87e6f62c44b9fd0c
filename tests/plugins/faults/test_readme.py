"""The pages about faults are true."""

import re
from enum import Enum
from pathlib import Path
from typing import get_args

from plugins.faults.action import FaultAction
from plugins.faults.effect import FaultSide
from plugins.faults.model import FORM
from rules.when import When
from tests.plugins.faults.kinds import PAGE, fault_of, kinds

ROOT = Path(__file__).parents[3]
FENCED = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_file_of_faults_on_a_page_is_right() -> None:
    blocks = [block for page in (PAGE, (ROOT / "README.md").read_text()) for block in FENCED.findall(page)]
    files = [block for block in blocks if "faults:\n" in block]
    assert files
    for text in files:
        assert FORM.examine(text, "faults.yaml", {}).usable().faults


def test_the_kinds_of_faults_are_counted_and_no_two_are_one() -> None:
    effects = [fault_of(kind).do.effect for kind in kinds()]
    assert f"There are {len(effects)} kinds of faults" in PAGE
    assert all(effect not in effects[:at] for at, effect in enumerate(effects))


def test_every_value_that_makes_another_kind_is_in_the_tables() -> None:
    effects = [fault_of(kind).do.effect for kind in kinds()]
    found = {(type(effect), name, value) for effect in effects for name, value in effect}
    for field in FaultAction.model_fields.values():
        (cls,) = (it for it in get_args(field.annotation) if it is not type(None))
        for name, option in cls.model_fields.items():
            kind = next((it for it in (option.annotation, *get_args(option.annotation)) if _is_enum(it)), None)
            if kind is not None and name not in ("side", "how", "code"):
                assert {(cls, name, value) for value in kind} <= found, f"{cls.__name__}.{name}"


def _is_enum(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def test_every_effect_and_every_option_of_when_is_on_the_page() -> None:
    for effect in FaultAction.model_fields:
        assert re.search(rf"`{effect}\b", PAGE), effect
    for name, option in When.model_fields.items():
        assert f"`{option.alias or name}: " in PAGE, name
    for side in FaultSide:
        assert f"`{side.value}`" in PAGE
