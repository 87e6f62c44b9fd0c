"""The page about upgrades is true: what it names is there, and the former names of plugins lead to the new ones."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest

import proxy.plugin
import proxy.plugin.fetching
import proxy.plugin.frames
import proxy.plugin.sasl
from deploy.environment import ROOT
from proxy.config import LimitOptions
from proxy.core.context import Context
from proxy.core.fast_path import AskRest
from proxy.net.running_plugins import START_WITHIN
from proxy.telemetry.measures import FAULTS, MEASURES

PAGE = (ROOT / "deploy" / "UPGRADES.md").read_text(encoding="utf-8")
# The newest changes come first, and count if a part has several rows.
ROWS = {row.split(" | ")[0].removeprefix("| "): row for row in reversed(PAGE.splitlines()) if row.startswith("| ")}
EVER = Path(__file__).parents[1] / "proxy" / "plugin" / "names.txt"


def named(row: str) -> list[str]:
    return re.findall(r"`([^`]+)`", ROWS[row])


def test_it_has_each_former_name_of_the_surface_of_plugins() -> None:
    former = set(EVER.read_text(encoding="utf-8").split()) - vars(proxy.plugin).keys()
    told = dict(re.findall(r"`(\w+)` is `(\w+)`", ROWS["plugins: names"]))
    assert told.keys() == former
    for name, new in told.items():
        with pytest.warns(DeprecationWarning, match=f"is called {new} now$"):
            assert getattr(proxy.plugin, name) is getattr(proxy.plugin, new)


def test_the_deeper_names_that_it_gives_are_there() -> None:
    new = (Context, "decided_by for_request with_notes without_notes"), (proxy.plugin.frames, "kept_bytes")
    for owner, names in (*new, (proxy.plugin.sasl, "SaslInput SaslAction observed_exchange")):
        for name in names.split():
            assert hasattr(owner, name)
            assert name in named("plugins: deeper names")


def test_the_arguments_of_deeper_functions_that_it_gives_are_those_that_they_have() -> None:
    row = ROWS["plugins: deeper arguments"]
    assert signature(proxy.plugin.fetching.named).parameters.keys() == {"topic", "by_id"}
    assert "`named(topic, by_id=...)`" in row
    assert get_args(AskRest) == ([memoryview, int, int], bool)
    assert "with the data, and with the positions where the rest of the frame begins and ends" in row


def test_the_time_that_plugins_have_to_start_at_a_reload_is_the_one_that_it_gives() -> None:
    assert f" {START_WITHIN:g} s" in ROWS["reload"]


def test_the_reasons_of_faults_and_the_limits_that_it_names_exist() -> None:
    reasons = {measure.attributes["reason"] for measure in MEASURES if measure.instrument == FAULTS}
    assert {name for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", ROWS["alerts"]) if "total" not in name} <= reasons
    assert set(named("limits")) <= LimitOptions.model_fields.keys()
