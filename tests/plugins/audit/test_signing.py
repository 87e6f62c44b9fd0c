"""The key that signs seals."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from plugins.audit.keyfile import KeyFileError
from plugins.audit.signing import fingerprint, is_signed, key_text, public_key, signing_key


def test_a_missing_key_is_made_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "journal.key"
    key = signing_key(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["journal.key"]
    assert key_text(signing_key(file).public_key()) == key_text(key.public_key())
    assert fingerprint(key_text(key.public_key())).startswith("SHA256:")


def test_the_public_key_alone_is_enough_to_verify(tmp_path: Path) -> None:
    key = signing_key(tmp_path / "journal.key")
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "journal.pub").write_bytes(public)
    for file in ("journal.pub", "journal.key"):
        assert is_signed(public_key(tmp_path / file), key.sign(b"seal"), b"seal")
        assert not is_signed(public_key(tmp_path / file), key.sign(b"seal"), b"soul")


def test_openssl_makes_keys_that_fit(tmp_path: Path) -> None:
    made = tmp_path / "made.key"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True, capture_output=True)
    assert signing_key(made)


def test_other_files_are_refused_with_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "journal.key"
    file.write_text("mine")
    with pytest.raises(KeyFileError, match="no private key in PEM without a passphrase; make one with"):
        signing_key(file)
    other = generate_private_key(SECP256R1())
    file.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(KeyFileError, match="not an Ed25519 one"):
        signing_key(file)
    file.write_bytes(other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(KeyFileError, match="not an Ed25519 one"):
        public_key(file)
    file.write_text("-----BEGIN PUBLIC KEY-----")
    with pytest.raises(KeyFileError, match="no key in PEM without a passphrase; give the public one"):
        public_key(file)
