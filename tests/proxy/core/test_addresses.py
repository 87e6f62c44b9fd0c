"""Addresses that can be a broker's, and those that cannot be dialled."""

import socket

import pytest

from proxy.core.addresses import is_ipv6, unusable


@pytest.mark.parametrize(
    "host", ["kafka-1", "kafka_1.example.com", "kafka.", "10.0.0.1", "::1", "fe80::1%eth0", "a" * 63, "0"]
)
def test_a_name_or_an_address_can_be_a_broker(host: str) -> None:
    assert unusable(0, host, 9092) is None
    assert unusable(2**31 - 1, host, 65_535) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "a..b",
        "a" * 64,
        "x" * 100_000,
        ".".join(["a" * 60] * 5),
        "kafka\0",
        "kafka\n",
        "kafka 1",
        "bücher",
        "\N{REPLACEMENT CHARACTER}",
        "[::1]",
        "::1%",
        "::1%e\0",
        "kafka:9092",
        "-kafka",
        "http://kafka",
        "1::2::3",
    ],
)
def test_what_no_resolver_takes_cannot(host: str) -> None:
    why = unusable(1, host, 9092)
    assert why is not None
    assert len(why) < 200
    assert why.isprintable()


@pytest.mark.parametrize("node_id", [-1, -(2**31)])
def test_an_id_below_0_cannot(node_id: int) -> None:
    assert str(node_id) in (unusable(node_id, "kafka", 9092) or "")


@pytest.mark.parametrize("port", [0, -1, 65_536, 2**31 - 1, -(2**31)])
def test_a_port_that_there_is_not_cannot(port: int) -> None:
    assert str(port) in (unusable(1, "kafka", port) or "")


def test_what_can_be_a_broker_can_be_encoded_for_the_resolver() -> None:
    for host in ("a" * 63 + "." + "b" * 63, "kafka_1.", ".".join(["a" * 49] * 5)):
        assert unusable(1, host, 9092) is None
        host.encode("idna")
    assert is_ipv6("::ffff:10.0.0.1")
    socket.inet_pton(socket.AF_INET6, "::ffff:10.0.0.1")
