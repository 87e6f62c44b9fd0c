"""Values as a person writes them."""

import pytest
from pydantic_core import PydanticCustomError

from proxy.config.values import Address, host, nearest, nearest_word, seconds, shown, size


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
    address = Address.parse(text)
    assert address == expected
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    ["", ":", ":9092", "a:", "a:0", "a:65536", "a:-1", "a:9 2", "[::1]", "[]:1", "a b:1", "-a:1", "a:" + "9" * 99],
)
def test_what_is_no_address_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(PydanticCustomError, match="; "):
        Address.parse(text)


def test_a_wildcard_is_every_address_of_the_machine() -> None:
    assert Address.parse("0.0.0.0:1").is_wildcard
    assert Address.parse("[::]:1").is_wildcard
    assert not Address.parse("127.0.0.1:1").is_wildcard


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100 MiB", 104_857_600), ("1GB", 1_000_000_000), ("1.5 KiB", 1536), (512, 512), ("7 B", 7)],
)
def test_a_size_is_in_bytes(text: object, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("500ms", 0.5), ("10s", 10), ("1.5 m", 90), ("2h", 7200), ("1d", 86400)]
)
def test_a_duration_is_in_seconds(text: object, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("value", [None, True, 1.5, "", "10", "ten s", [], "1e3 s", "9" * 5000 + "s"])
def test_neither_a_size_nor_a_duration_is_guessed(value: object) -> None:
    for read in (size, seconds):
        with pytest.raises(PydanticCustomError, match="; "):
            read(value)


def test_a_host_has_no_port_and_can_be_connected_to() -> None:
    assert host("kafka.example.com") == "kafka.example.com"
    assert host("::1") == "::1"
    for value in ("a:1", "0.0.0.0", "", 3, "a b"):
        with pytest.raises(PydanticCustomError, match="; "):
            host(value)


def test_the_nearest_word_ignores_case_and_hyphens() -> None:
    assert nearest_word("First-Frame", ["idle", "first_frame"]) == "first_frame"
    assert nearest("Raed", ["Read", "Write"]) == 'did you mean "Read"?'
    assert nearest("zzz", ["Read", "Write"]) == "known here: Read, Write"
    assert nearest("zzz", []) == ""


def test_a_value_is_shown_short_and_as_yaml_writes_it() -> None:
    assert shown(True) == "true"
    assert shown(None) == "nothing"
    assert shown({}) == "a mapping"
    assert len(shown("x" * 1000)) < 70
