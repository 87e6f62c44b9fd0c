"""A certificate and its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config.certificates import identity
from proxy.config.tls import Pair, UnusableError
from tests.certificates import Authority, spoil

DAMAGED = {  # bytes of a certificate, others in their place, and what is said of it
    "names that are none": (b"odd.example", b"odd.exampl\xff", "names that cannot be read (damaged)"),
    "names twice": (b"\x55\x1d\x13", b"\x55\x1d\x11", "names that cannot be read (an extension is there twice)"),
    "a point that is none": (b"\x03\x42\x00\x04", b"\x03\x42\x00\x05", "a key that cannot be read (damaged)"),
    "an unknown curve": (
        b"\x2a\x86\x48\xce\x3d\x03\x01\x07",
        b"\x2a\x86\x48\x60\x3d\x03\x01\x07",
        "a key that cannot be read (of an unknown kind)",
    ),
}


def test_a_certificate_covers_its_names_and_one_level_of_a_wildcard(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("a", "kafka.example.com", "*.b.example.com")
    shown = identity(Pair(certificate=str(certificate), key=str(key)))
    assert shown is not None
    covered = ["kafka.example.com", "KAFKA.example.com", "x.b.example.com"]
    assert [shown.covers(host) for host in (*covered, "b.example.com", "x.y.b.example.com")] == [True] * 3 + [False] * 2
    assert "PRIVATE" not in repr(shown)


@pytest.mark.parametrize(("before", "after", "fact"), DAMAGED.values(), ids=DAMAGED)
def test_a_certificate_that_is_damaged_inside_is_told_and_its_file_named(
    tmp_path: Path, before: bytes, after: bytes, fact: str
) -> None:
    certificate, key = Authority(tmp_path).issue("a", "odd.example")
    spoil(certificate, before, after)
    with pytest.raises(UnusableError) as caught:
        identity(Pair(certificate=str(certificate), key=str(key)))
    assert caught.value.option == "certificate"
    way_out = "have it issued anew, with an RSA or EC key"
    assert str(caught.value) == f'the certificate in "{certificate}" has {fact}; {way_out}'


def test_a_damaged_subject_is_told_where_it_would_give_the_names(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("odd")
    spoil(certificate, b"\x0c\x03odd", b"\xc2\x03odd")
    with pytest.raises(UnusableError, match=r"has names that cannot be read \(damaged\)"):
        identity(Pair(certificate=str(certificate), key=str(key)))
