"""Keys of an issuer."""

import base64
import json
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey

from proxy.auth.keys import keys_in, load_keys
from proxy.text.problems import BadFileError
from tests.proxy.auth.issuer import Issuer


def test_what_an_issuer_publishes_is_read(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(Issuer("k7").jwks)
    assert [key.kid for key in load_keys(str(tmp_path / "keys.json")).keys] == ["k7"]


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"keys": 7}'])
def test_what_is_no_set_of_keys_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="this is no set of keys"):
        keys_in(text.encode())


@pytest.mark.parametrize("keys", ["[]", '[{"kty": "none"}]', '[{"kty": "AKP", "pub": "AAAA"}, 7]'])
def test_a_set_of_which_no_key_can_be_read_is_refused(keys: str) -> None:
    with pytest.raises(ValueError, match=r"no key of this set \(JWKS\) can be read here; keys of the types RSA"):
        keys_in(f'{{"keys": {keys}}}'.encode())


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"},
        {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
        {"kty": "OKP", "crv": "X999", "x": "AA"},
        {"kty": "RSA", "n": "AQAB"},
        {},
        7,
    ],
)
def test_a_key_of_an_unknown_kind_leaves_the_others_in_force(other: object) -> None:
    document = json.loads(Issuer("k7").jwks)
    document["keys"].insert(0, other)
    assert [key.kid for key in keys_in(json.dumps(document).encode()).keys] == ["k7"]


def test_a_shared_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="a shared secret is among the keys"):
        keys_in(b'{"keys": [{"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}]}')


def test_an_rsa_key_that_is_too_large_is_refused() -> None:
    number = base64.urlsafe_b64encode((2**16_384 + 1).to_bytes(2049, "big")).rstrip(b"=").decode()
    with pytest.raises(ValueError, match=r"an RSA key of 16,385 bits is among the keys \(JWKS\); the most is 16,384"):
        keys_in(json.dumps({"keys": [{"kty": "RSA", "n": number, "e": "AQAB"}]}).encode())


def test_of_a_private_key_only_the_public_part_is_read() -> None:
    key = RSAKey.generate_key(2048, {"kid": "k7"}).as_dict(private=True)
    (read,) = keys_in(json.dumps({"keys": [key]}).encode()).keys
    assert not read.is_private
    assert read.as_dict(private=False)["n"] == key["n"]


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="cannot be read"):
        load_keys(str(tmp_path / "none.json"))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(BadFileError, match="give what the issuer publishes"):
        load_keys(str(tmp_path / "bad.json"))
