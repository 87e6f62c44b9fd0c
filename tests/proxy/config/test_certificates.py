"""The content of certificate files."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config.certificates import LARGEST, identity, trusted
from proxy.config.tls import Pair, Trusting, UnusableError
from tests.certificates import Authority, spoil

VERSION = b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x0f"  # of a certificate, in DER


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


def test_a_damaged_certificate_is_told_and_its_file_named(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("a", "host")
    spoil(certificate, *VERSION)
    with pytest.raises(UnusableError) as caught:
        identity(Pair(certificate=str(certificate), key=str(key)))
    assert caught.value.option == "certificate"
    assert str(caught.value) == f'a certificate in "{certificate}" is damaged; write the file anew'


def test_a_damaged_authority_is_told_and_its_file_named(tmp_path: Path) -> None:
    file = Authority(tmp_path).file
    spoil(file, *VERSION)
    with pytest.raises(UnusableError) as caught:
        trusted(Trusting(ca=str(file)))
    assert caught.value.option == "ca"
    assert str(caught.value) == f'a certificate in "{file}" is damaged; write the file anew'


def test_a_file_is_never_used_in_part(tmp_path: Path) -> None:
    file = Authority(tmp_path).file
    lines = file.read_bytes()
    file.write_bytes(lines * (LARGEST // len(lines)))
    assert trusted(Trusting(ca=str(file))) is not None
    file.write_bytes(lines * (LARGEST // len(lines) + 1))
    with pytest.raises(UnusableError) as caught:
        trusted(Trusting(ca=str(file)))
    assert str(caught.value) == f'"{file}" is larger than 4 MiB; leave out what is not needed'


def test_a_comment_may_speak_of_encrypted_keys(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("a", "host")
    key.write_bytes(b"# NOT ENCRYPTED\n" + key.read_bytes() + b"# NOT ENCRYPTED\n")
    assert identity(Pair(certificate=str(certificate), key=str(key))) is not None
