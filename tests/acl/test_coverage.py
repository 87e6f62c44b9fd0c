"""The scenarios leave nothing out: they send every API and version that clients may send."""

from __future__ import annotations

from collections import Counter

import pytest

from proxy.protocol.api import APIS
from tests.acl.load import Scenario, load
from tests.acl.play import versions
from tests.acl.sides import Sides

SCENARIOS = load()
LEAST_SCENARIOS, LEAST_APIS = 300, 60


def asked(scenarios: list[Scenario], spoken: dict[int, range]) -> set[tuple[str, int]]:
    """Every API and version that some scenario sends."""
    return {(step.api.name, version) for each in scenarios for step in each.steps for version in versions(step, spoken)}


def test_there_are_scenarios_enough() -> None:
    assert len(SCENARIOS) >= LEAST_SCENARIOS
    assert len({step.api for each in SCENARIOS for step in each.steps}) >= LEAST_APIS


def test_no_two_scenarios_of_a_theme_have_the_same_name() -> None:
    assert [name for name, count in Counter((each.theme, each.name) for each in SCENARIOS).items() if count > 1] == []


@pytest.mark.real
def test_every_version_that_clients_may_send_is_in_a_scenario(sides: Sides) -> None:
    spoken = sides.spoken()
    may_be_sent = {(APIS[key].name, version) for key, served in spoken.items() for version in served}
    assert sorted(may_be_sent - asked(SCENARIOS, spoken)) == []


@pytest.mark.real
def test_clients_may_send_through_the_proxy_what_they_may_send_to_the_broker(sides: Sides) -> None:
    direct = {key: served for key, served in sides.broker.admin.spoken().items() if not APIS[key].inter_broker}
    assert sides.proxied.admin.spoken() == direct
