"""Seals: what proves that a segment is as it was written, that no other is missing, and where it differs if not.

A seal is a file of two lines: what it says, in JSON, and the signature of that line. Without this program:

    sha256sum SEGMENT                       is what stands at "sha256"
    head -n 1 SEAL | sha256sum              is what stands at "previous" in the next seal of the chain

Rules:
* `previous` chains the seals of one writer. The first one of a chain has `others` instead: the chains that were there
  when it began, each with the hash of its newest seal. So what is cut off an older chain is missed by a younger one.
* `checks` are the first four bytes of each line's SHA-256. They place a change at an event; that there is one is known
  by the hash of the whole segment.
* The last seal of a chain says `stopped`, or `killed` where another process sealed it after its writer was gone: then
  the events of the last 100 ms may be missing. Any other has a successor.
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
from plugins.audit.segments import CHECK, SegmentName, beside, sync_folder
from plugins.audit.signing import is_signed, key_text

FORMAT = 1


class SegmentEnd(Enum):
    """How a segment ended."""

    ROTATED = "rotated"
    STOPPED = "stopped"
    KILLED = "killed"


class BadSealError(Exception):
    """A file that is no seal, or one that was changed."""


@dataclass(frozen=True)
class Seal:
    """What a seal says. `torn`: so many bytes at the end of a killed writer's segment were no whole frame."""

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
        """The sequence of its last event; one less than `first` where it has none."""
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
    """Write the seal of a segment. Gives its hash, for the next one. Raises OSError."""
    line = said.text(key.public_key()).encode()
    segment = journal / said.name.path
    hidden, file = beside(segment, "seal.tmp"), beside(segment, "seal")
    file.parent.mkdir(parents=True, exist_ok=True)  # somebody may have taken the segment away, and its folder
    with create(hidden) as opened:
        opened.write(line + b64encode(key.sign(line)) + b"\n")
        opened.flush()
        os.fsync(opened.fileno())
    hidden.rename(file)
    sync_folder(file.parent)
    return sha256(line).hexdigest()


@dataclass(frozen=True)
class ReadSeal:
    """A seal as it was found, its hash, and the key that signed it, as a seal shows keys."""

    seal: Seal
    hash: str
    key: str


def read_seal(file: Path, trusted: Ed25519PublicKey | None) -> ReadSeal:
    """A seal that is signed: by this key, or, where none is given, by the one that it names.

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
    if trusted is not None and key_text(trusted) != said["key"]:
        raise BadSealError("it was signed with another key")
    if not is_signed(key, signature, line):
        raise BadSealError("its signature is not that of what it says")
    if not rest.endswith(b"\n") or b64encode(signature) + b"\n" != rest:
        raise BadSealError("something stands behind its signature")
    if found.text(key).encode() != line:
        raise BadSealError("it was not written by this program")
    return ReadSeal(found, sha256(line).hexdigest(), said["key"])
