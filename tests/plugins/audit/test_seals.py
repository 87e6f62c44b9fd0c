"""Seals: they can be verified without this program, and not be changed."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.seals import BadSealError, ReadSeal, Seal, SegmentEnd, read_seal, seal
from plugins.audit.segments import SegmentName, beside, checks
from tests.plugins.audit.written import KEY, START, chain, write

SEAL = Seal(
    SegmentName.at(START, "3f9c2a71", 0, 1),
    "ab" * 32,
    1,
    checks([b"1\n", b"2\n"]),
    SegmentEnd.STOPPED,
    None,
    {"b-0": "cd"},
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    segment = tmp_path / SEAL.name.path
    segment.parent.mkdir(parents=True)
    seal(tmp_path, SEAL, KEY)
    return beside(segment, "seal")


def test_a_seal_is_read_as_it_was_written(file: Path) -> None:
    found = read_seal(file, KEY.public_key())
    assert found.seal == SEAL
    assert (found.seal.first, found.seal.last) == (1, 2)
    assert read_seal(file) == found


def test_its_hash_is_that_of_its_first_line(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    write(writer, range(3))
    writer.end()
    (file,) = tmp_path.rglob("_*.seal")
    line, _, _ = file.read_bytes().partition(b"\n")
    assert read_seal(file).hash == sha256(line + b"\n").hexdigest()
    (segment,) = tmp_path.rglob("*.zst")
    said = subprocess.run(["sha256sum", segment], check=True, capture_output=True, text=True).stdout
    assert json.loads(line)["sha256"] == said.split()[0]


def test_no_bit_of_it_can_be_changed(file: Path) -> None:
    data = file.read_bytes()
    for position in range(0, len(data) * 8, 5):  # each byte, and each bit of some
        changed = bytearray(data)
        changed[position // 8] ^= 1 << position % 8
        file.write_bytes(changed)
        with pytest.raises(BadSealError):
            read_seal(file, KEY.public_key())


@pytest.mark.parametrize("cut", [0, 1, 100, -1, -2])
def test_none_of_it_can_be_missing(file: Path, cut: int) -> None:
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(BadSealError):
        read_seal(file)


def test_nothing_can_stand_behind_it(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"more\n")
    with pytest.raises(BadSealError):
        read_seal(file)


def test_another_key_is_noticed_where_one_is_trusted(file: Path) -> None:
    with pytest.raises(BadSealError, match="signed with another key"):
        read_seal(file, Ed25519PrivateKey.generate().public_key())


def test_a_seal_says_where_its_segment_lies(tmp_path: Path) -> None:
    other = replace(SEAL, name=replace(SEAL.name, number=2))
    (tmp_path / other.name.path).parent.mkdir(parents=True)
    seal(tmp_path, other, KEY)
    found: ReadSeal = read_seal(beside(tmp_path / other.name.path, "seal"))
    assert found.seal.name.number == 2
