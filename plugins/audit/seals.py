"""Seals: they prove that a segment is as it was written and that none is missing, and show where one was changed.

A seal is a file of two lines: its content in JSON, and the signature of that line. Without this program:

    sha256sum SEGMENT                       is the value of "sha256"
    head -n 1 SEAL | sha256sum              is the value of "previous" in the next seal of the chain

Rules:
* `previous` chains the seals of one writer. The first seal of a chain has `others` instead: the chains that existed
  when it began, each with the hash of its newest seal. So a younger chain shows if an older one was cut off.
* `checks` are the first four bytes of each line's SHA-256. They locate a change at an event; the hash of the whole
  segment shows that there is one.
* The last seal of a chain says `stopped`, or `killed` if another process sealed it after its writer was gone: then what
  was not on disk may be missing: events of the last 100 ms, or all since the disk refused them. Any other seal has a
  successor.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from plugins.audit.plain_files import create
from plugins.audit.segments import CHECK, SegmentName, beside
from plugins.audit.signing import fingerprint, is_signed, key_text
from proxy.plugin.files import sync_folder

FORMAT = 1
SEAL = "seal"  # the ending of a seal's name


class SegmentEnd(Enum):
    """How a segment ended."""

    ROTATED = "rotated"
    STOPPED = "stopped"
    KILLED = "killed"


class BadSealError(Exception):
    """The file is no seal, or was changed."""


@dataclass(frozen=True)
class Seal:
    """The content of a seal. `torn`: bytes at the end of a killed writer's segment that were no whole frame."""

    name: SegmentName
    sha256: str
    first: int  # the sequence of its first event
    checks: bytes = field(repr=False)
    end: SegmentEnd
    previous: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    torn: int = 0

    @property
    def last(self) -> int:
        """The sequence number of its last event; one less than `first` if it has none."""
        return self.first + len(self.checks) // CHECK - 1

    def text(self, key: Ed25519PublicKey) -> str:
        """The line that is signed."""
        said = {
            "format": FORMAT,
            "segment": self.name.path.as_posix(),
            "sha256": self.sha256,
            "first": self.first,
            "last": self.last,
            "ended": self.end.value,
            "previous": self.previous,
            "others": dict(sorted(self.others.items())),
            "torn": self.torn,
            "key": key_text(key),
            "checks": b64encode(self.checks).decode(),
        }
        return json.dumps(said) + "\n"


def seal(journal: Path, said: Seal, key: Ed25519PrivateKey) -> str:
    """Write the seal of a segment. Returns its hash, for the next seal. Raises OSError."""
    hash_ = prepare_seal(journal, said, key)
    put_in_place(journal / said.name.path, SEAL)
    return hash_


def prepare_seal(journal: Path, said: Seal, key: Ed25519PrivateKey) -> str:
    """Write the seal of a segment, but not under its name yet. Returns its hash. Raises OSError."""
    line, segment = said.text(key.public_key()).encode(), journal / said.name.path
    segment.parent.mkdir(parents=True, exist_ok=True)  # the segment may have been deleted with its folder
    _prepare(segment, SEAL, line, key)
    return sha256(line).hexdigest()


def write_signed(segment: Path, ending: str, line: bytes, key: Ed25519PrivateKey) -> None:
    """Write a line and its signature to a file beside a segment, whole or not at all. Raises OSError."""
    _prepare(segment, ending, line, key)
    put_in_place(segment, ending)


def _prepare(segment: Path, ending: str, line: bytes, key: Ed25519PrivateKey) -> None:
    with create(prepared(segment, ending)) as opened:
        opened.write(line + b64encode(key.sign(line)) + b"\n")
        opened.flush()
        os.fsync(opened.fileno())
    sync_folder(segment.parent)


def prepared(segment: Path, ending: str) -> Path:
    """The file of a segment while it is not in its place yet."""
    return beside(segment, f"{ending}.tmp")


def put_in_place(segment: Path, ending: str) -> None:
    """Give a prepared file its name. Raises OSError."""
    prepared(segment, ending).rename(beside(segment, ending))
    sync_folder(segment.parent)


@dataclass(frozen=True)
class ReadSeal:
    """A seal that was read, its hash, and the key that signed it, in base64 as seals have it."""

    seal: Seal
    hash: str
    key: str


def read_seal(file: Path, *trusted: Ed25519PublicKey) -> ReadSeal:
    """Read a seal, and check its signature with the key that it names: one of these keys, or, without them, any.

    Raises BadSealError, OSError.
    """
    line, _, rest = file.read_bytes().partition(b"\n")
    line += b"\n"
    try:
        said: dict[str, Any] = json.loads(line)
        signature = b64decode(rest.removesuffix(b"\n"), validate=True)
        key = Ed25519PublicKey.from_public_bytes(b64decode(said["key"], validate=True))
        name = SegmentName.of(Path(said["segment"]))
        if said["format"] != FORMAT or name is None or name.path.as_posix() != said["segment"]:
            raise BadSealError("it is no seal")
        found = Seal(
            name,
            said["sha256"],
            said["first"],
            b64decode(said["checks"], validate=True),
            SegmentEnd(said["ended"]),
            said["previous"],
            said["others"],
            said["torn"],
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadSealError("it is no seal") from None
    if trusted and said["key"] not in map(key_text, trusted):
        raise BadSealError(f"it was signed with another key, {fingerprint(said['key'])}")
    if not is_signed(key, signature, line):
        raise BadSealError("its signature is not that of what it says")
    if not rest.endswith(b"\n") or b64encode(signature) + b"\n" != rest:
        raise BadSealError("something stands behind its signature")
    if found.text(key).encode() != line:
        raise BadSealError("it was not written by this program")
    return ReadSeal(found, sha256(line).hexdigest(), said["key"])
