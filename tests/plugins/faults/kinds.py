"""The kinds of faults, as the tables of the page say them."""

from __future__ import annotations

import re
from pathlib import Path

from plugins.faults.model import FORM, FaultRule

PAGE = Path(__file__).parents[3].joinpath("plugins/faults/README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_]+(?:: .*?)?)` \|", re.MULTILINE)


def kinds() -> list[str]:
    """What the tables say behind `do:`."""
    begins = PAGE.index("## What happens: `do`")
    return ROW.findall(PAGE[begins : PAGE.index("* `side` is")])


def in_yaml(kind: str) -> str:
    """The same as a value in YAML."""
    return f"{{{kind}}}" if ":" in kind else kind


def fault_of(kind: str) -> FaultRule:
    """The fault that a file means which says so."""
    return FORM.examine(f"faults: [{{do: {in_yaml(kind)}}}]", "faults.yaml", {}).usable().faults[0]
