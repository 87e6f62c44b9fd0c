"""The page about security is true: it has each limit with its default, and the metric of each limit exists."""

from __future__ import annotations

import re

import pytest

from deploy.environment import ROOT
from proxy.config import LimitOptions
from proxy.config.reference import options
from proxy.telemetry.measures import LIMITS, MEASURES

PAGE = (ROOT / "deploy" / "SECURITY.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_]+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ROWS = {name: default for name, default, _, _ in ROW.findall(PAGE)}


def test_it_has_all_limits_in_their_order() -> None:
    assert list(ROWS) == list(LimitOptions.model_fields)


@pytest.mark.parametrize("name", LimitOptions.model_fields)
def test_it_says_their_defaults(name: str) -> None:
    (declared,) = (option.default for option in options() if option.path == f"limits.{name}")
    assert ROWS[name] == ("a share" if declared == "none" else declared)
    if ROWS[name].startswith("`"):
        assert getattr(LimitOptions.model_validate({name: ROWS[name].strip("`")}, strict=False), name) == getattr(
            LimitOptions(), name
        )


@pytest.mark.parametrize("name", LimitOptions.model_fields)
def test_each_has_a_metric(name: str) -> None:
    assert [measure for measure in MEASURES if measure.instrument == LIMITS and measure.attributes == {"limit": name}]


def test_what_it_calls_metrics_is_published() -> None:
    published = {measure.instrument.replace(".", "_") for measure in MEASURES}
    for name in re.findall(r"`(doorkeeper_[a-z_]+)", PAGE):
        assert re.sub(r"_(total|bytes)$", "", name) in published, name
