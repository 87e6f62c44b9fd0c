"""What stands where Kafka has a size."""

from __future__ import annotations

import pytest

from proxy.protocol.foreign import why_no_size


@pytest.mark.parametrize(
    ("four", "why"),
    [
        (b"GET ", "this is HTTP, not Kafka"),
        (b"\x16\x03\x01\x02", "this is TLS, not Kafka"),
        (b"\x15\x03\x03\x00", "this is TLS, not Kafka"),
        (b"SSH-", "this is SSH, not Kafka"),
        (b"\x00\x00\x00\x07", "a frame of 7 bytes cannot be"),
        (b"\xff\xff\xff\xff", "a frame of -1 bytes cannot be"),
        (b"\x00\x00\x13\x89", "a frame of 5,001 bytes, over the limit of 5,000"),
    ],
)
def test_what_is_no_size_is_told_in_the_words_of_whoever_sent_it(four: bytes, why: str) -> None:
    assert why_no_size(four, 8, 5_000) == why
