"""Pruning: old segments are deleted so that a journal stays verifiable.

    JOURNAL/date=2026-03-01/hour=08/_20260301T080000Z-3f9c2a71-0-000001.pruned     in the place of the segment

Rules:
* A sealed segment whose hour ended before the given moment is deleted, and with it what was torn off its end. Its seal
  stays, so the chain stays whole.
* A statement beside the seal, signed with the key of the journal, says which seal's segment was deleted, and when. So
  nobody without the key can make a deletion look like pruning.
* Segments that another key sealed stay, as those from before a change of the key: only that key can sign for them. One
  whose seal was altered stays too, and keeps no other from being deleted.
* The statement is on disk before the segment is deleted. A pruning that was interrupted is done again.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from plugins.audit.plain_files import is_plain
from plugins.audit.recovery import TORN
from plugins.audit.seals import SEAL, BadSealError, ReadSeal, read_seal, write_signed
from plugins.audit.segments import SegmentName, beside, segments
from plugins.audit.signing import fingerprint, is_signed, key_text
from proxy.plugin.files import sync_folder

FORMAT = 1
PRUNED = "pruned"  # the ending of a statement's name


class OldSegment(NamedTuple):
    """A segment from before the moment, and the bytes that were freed; or why it stays, with a way out."""

    path: Path
    freed: int = 0
    stays: str = ""


def prune(journal: Path, before: datetime, key: Ed25519PrivateKey, now: datetime) -> Iterator[OldSegment]:
    """Delete the segments from before this moment that this key sealed. Raises OSError."""
    for path in segments(journal):
        name = SegmentName.of(path)
        if name is None or not is_plain(beside(path, SEAL)):
            continue
        if name.begun_at.replace(minute=0, second=0) <= before - timedelta(hours=1):
            yield _pruned(path, key, now)


def _pruned(path: Path, key: Ed25519PrivateKey, now: datetime) -> OldSegment:
    try:
        found = read_seal(beside(path, SEAL))
    except BadSealError as error:
        return OldSegment(path, stays=f"its seal was altered: {error}; see what `doorkeeper audit verify` says")
    if found.key != key_text(key.public_key()):
        return OldSegment(path, stays=f"it was sealed with the key {fingerprint(found.key)}; prune it with that one")
    _state(path, found, key, now)
    freed = sum(_removed(file) for file in (beside(path, TORN), path))
    sync_folder(path.parent)
    return OldSegment(path, freed)


def _removed(file: Path) -> int:
    """Delete a file, if it is there. Returns its bytes. Raises OSError."""
    size = file.stat().st_size if is_plain(file) else 0
    file.unlink(missing_ok=True)
    return size


def _state(segment: Path, found: ReadSeal, key: Ed25519PrivateKey, now: datetime) -> None:
    said = {"format": FORMAT, "seal": found.hash, "pruned": now.isoformat(), "key": key_text(key.public_key())}
    write_signed(segment, PRUNED, json.dumps(said).encode() + b"\n", key)


def is_pruned(journal: Path, found: ReadSeal) -> bool:
    """Whether a statement, signed with the key of the seal, says that the segment was deleted. Raises OSError."""
    file = beside(journal / found.seal.name.path, PRUNED)
    if not is_plain(file):
        return False
    line, _, rest = file.read_bytes().partition(b"\n")
    try:
        said = json.loads(line)
        signature = b64decode(rest.strip(), validate=True)
        key = Ed25519PublicKey.from_public_bytes(b64decode(found.key))
        is_about_it = said["format"] == FORMAT and said["seal"] == found.hash
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return is_about_it and is_signed(key, signature, line + b"\n")
