"""The content of certificate files."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config.certificates import identity, trusted
from proxy.config.tls import Pair, Trusting
from tests.certificates import Authority


def test_a_certificate_covers_its_names_and_one_level_of_a_wildcard(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("a", "kafka.example.com", "*.b.example.com")
    shown = identity(Pair(certificate=str(certificate), key=str(key)))
    assert shown is not None
    covered = ["kafka.example.com", "KAFKA.example.com", "x.b.example.com"]
    assert [shown.covers(host) for host in (*covered, "b.example.com", "x.y.b.example.com")] == [True] * 3 + [False] * 2
    assert "PRIVATE" not in repr(shown)


def test_a_store_of_trust_is_read_as_a_pem_file_is(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    store = Trusting(ca=str(authority.store("a")), ca_password="secret")
    files = Trusting(ca=str(authority.file))
    assert (trusted(files) or "?") in (trusted(store) or "")


@pytest.mark.parametrize("together", ["certificate", "keystore"])
def test_a_key_may_stand_in_the_file_of_its_certificate(tmp_path: Path, together: str) -> None:
    certificate, key = Authority(tmp_path).issue("a", "host")
    certificate.write_bytes(key.read_bytes() + certificate.read_bytes())
    shown = identity(Pair.model_validate({together: str(certificate)}))
    assert shown is not None
    assert shown.names == ("host",)
