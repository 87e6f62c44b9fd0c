"""Checks across options."""

from proxy.config.checks import ROOM, findings
from proxy.config.model import Config


def config(**listeners: str) -> Config:
    every = {name: {"cluster": "main", "bind": bind} for name, bind in listeners.items()}
    return Config.model_validate({"clusters": {"main": {"bootstrap": ["kafka:9092"]}}, "listeners": every})


def test_ports_that_keep_away_from_each_other_are_fine() -> None:
    assert not list(findings(config(one="127.0.0.1:9000", two=f"127.0.0.1:{9000 + ROOM + 1}")))


def test_the_same_port_on_two_addresses_is_fine() -> None:
    assert not list(findings(config(one="127.0.0.1:9000", two="127.0.0.2:9000")))


def test_the_port_of_a_likely_broker_is_a_warning_whichever_listener_comes_first() -> None:
    for listeners in ({"one": "h:9000", "two": "h:9010"}, {"two": "h:9010", "one": "h:9000"}):
        (finding,) = findings(config(**listeners))
        assert finding.warning
        assert 'listener "one" needs this port for a broker of id 9' in finding.message
        assert finding.path[1] == "two"
