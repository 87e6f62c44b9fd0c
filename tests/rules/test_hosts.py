"""Hosts, as Java prints them and as networks."""

import re

import pytest
from pydantic_core import PydanticCustomError

from rules.hosts import HostPattern, client_host, java_text, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:DB8::00ff", "2001:db8:0:0:0:0:0:ff"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("10.1.2.3", "10.1.2.3"),
        ("kafka", "kafka"),
    ],
)
def test_an_address_is_spelt_as_java_spells_it(text: str, expected: str) -> None:
    assert java_text(text) == expected
    assert java_text(expected) == expected


@pytest.mark.parametrize(
    ("host", "client", "holds"),
    [
        ("*", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.4", False),
        ("::1", "0:0:0:0:0:0:0:1", False),
        ("0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1", True),
        ("10.0.0.0/8", "10.255.0.1", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("10.0.0.0/8", "0:0:0:0:0:0:0:1", False),
        ("0.0.0.0/0", "1.2.3.4", True),
        ("fd00::/8", "fd12:0:0:0:0:0:0:1", True),
        ("fe80::/10", "fe80:0:0:0:0:0:0:1%2", True),
        ("10.0.0.0/8", "no address", False),
    ],
)
def test_a_host_holds_what_is_meant(host: str, client: str, holds: bool) -> None:
    assert parse(host).holds(client) is holds


def test_a_text_that_looks_like_a_network_can_be_said() -> None:
    host = parse({"literal": "10.0.0.0/8"})
    assert host == HostPattern("10.0.0.0/8")
    assert not host.holds("10.1.2.3")
    assert parse(host.written) == host


@pytest.mark.parametrize("host", ["*", "10.1.2.3", "10.0.0.0/8", "::1"])
def test_a_host_is_written_as_it_was_read(host: str) -> None:
    assert parse(host).written == host


@pytest.mark.parametrize("value", [None, 10, "", "10.0.0.1/8", "10.0.0.0/33", "a/b", {}, {"literal": 1}, {"x": "y"}])
def test_what_is_no_host_is_refused_with_a_way_out(value: object) -> None:
    with pytest.raises(PydanticCustomError, match="; "):
        parse(value)


def test_a_client_comes_from_an_address_and_from_nothing_else() -> None:
    assert client_host("::1") == "0:0:0:0:0:0:0:1"
    assert client_host("10.1.2.3") == "10.1.2.3"
    for text in ("300.1.1.1", "kafka", "10.0.0.0/8", "*", ""):
        with pytest.raises(ValueError, match=f'^"{re.escape(text)}" is not an IP address; write that of a client'):
            client_host(text)
