"""Addresses as people write them."""

import pytest
from pydantic_core import PydanticCustomError

from proxy.config.values import HostPort, host, listened_on


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka-1:9092", ("kafka-1", 9092)),
        ("kafka_1.internal.:1", ("kafka_1.internal.", 1)),
        ("10.0.0.1:65535", ("10.0.0.1", 65535)),
        ("[::1]:9092", ("::1", 9092)),
        ("[fe80::1%eth0]:9092", ("fe80::1%eth0", 9092)),
    ],
)
def test_an_address_reads_and_writes_back(text: str, expected: tuple[str, int]) -> None:
    address = HostPort.parse(text)
    assert address == expected
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    ["", ":", ":9092", "a:", "a:0", "a:65536", "a:-1", "a:9 2", "[::1]", "[]:1", "a b:1", "-a:1", "a:" + "9" * 99],
)
def test_what_is_no_address_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(PydanticCustomError, match="; "):
        HostPort.parse(text)


def test_a_wildcard_is_every_address_of_the_machine() -> None:
    assert HostPort.parse("0.0.0.0:1").is_wildcard
    assert HostPort.parse("[::]:1").is_wildcard
    for other_notation in ("0:1", "000.000.0.0:1", "[::0]:1", "[0:0:0:0:0:0:0:0]:1"):
        assert HostPort.parse(other_notation).is_wildcard
    for other_address in ("127.0.0.1:1", "1:1", "[::1]:1", "kafka:1"):
        assert not HostPort.parse(other_address).is_wildcard


def test_a_host_has_no_port_and_can_be_connected_to() -> None:
    assert host("kafka.example.com") == "kafka.example.com"
    assert host("::1") == "::1"
    for value in ("a:1", "0.0.0.0", "::0", "", 3, "a b"):
        with pytest.raises(PydanticCustomError, match="; "):
            host(value)


def test_an_address_to_listen_on_is_of_the_family_of_its_notation() -> None:
    for text in ("127.0.0.1:1", "[::1]:1", "[::]:1", "[fe80::1%eth0]:1", "localhost:1"):
        assert listened_on(HostPort.parse(text)) == HostPort.parse(text)
    with pytest.raises(PydanticCustomError, match=r'"\[::ffff:7f00:1\]:9" is an IPv4 .*; write "127\.0\.0\.1:9"'):
        listened_on(HostPort.parse("[::ffff:7f00:1]:9"))
