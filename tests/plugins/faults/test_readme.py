"""The pages about faults are true."""

import re
from pathlib import Path

from plugins.faults.effect import FaultSide
from plugins.faults.model import FORM, FaultAction
from rules.when import When

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "plugins/faults/README.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_file_of_faults_on_a_page_is_right() -> None:
    blocks = [block for page in (PAGE, (ROOT / "README.md").read_text()) for block in FENCED.findall(page)]
    files = [block for block in blocks if "faults:\n" in block]
    assert len(files) == 2
    for text in files:
        assert FORM.examine(text, "faults.yaml", {}).usable().faults


def test_every_effect_and_every_option_of_when_is_on_the_page() -> None:
    for effect in FaultAction.model_fields:
        assert re.search(rf"`{effect}\b", PAGE), effect
    for name, option in When.model_fields.items():
        assert f"`{option.alias or name}: " in PAGE, name
    for side in FaultSide:
        assert f"`{side.value}`" in PAGE
