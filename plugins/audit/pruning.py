"""Pruning: old segments are deleted so that a journal stays verifiable.

    JOURNAL/date=2026-03-01/hour=08/_20260301T080000Z-3f9c2a71-0-000001.pruned     in the place of the segment

Rules:
* A sealed segment whose hour ended before the given moment is deleted, and with it what was torn off its end. Its seal
  stays, so the chain stays whole.
* A statement beside the seal, signed with the key of the journal, says which seal's segment was deleted, and when. So
  nobody without the key can make a deletion look like pruning.
* Segments that another key sealed stay, as those from before a change of the key: only that key can sign for them.
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
from plugins.audit.seals import SEAL, ReadSeal, read_seal, write_signed
from plugins.audit.segments import SegmentName, beside, segments, sync_folder
from plugins.audit.signing import is_signed, key_text

FORMAT = 1


class OldSegment(NamedTuple):
    """A segment from before the moment, the key that sealed it as seals have it, and the bytes that were freed.

    `freed` None: it stays, since the key is another one.
    """

    path: Path
    key: str
    freed: int | None


def prune(journal: Path, before: datetime, key: Ed25519PrivateKey, now: datetime) -> Iterator[OldSegment]:
    """Delete the segments from before this moment that this key sealed. Raises OSError, BadSealError."""
    ours = key_text(key.public_key())
    for path in segments(journal):
        name = SegmentName.of(path)
        if name is None or not is_plain(beside(path, SEAL)):
            continue
        if name.begun_at.replace(minute=0, second=0) <= before - timedelta(hours=1):
            found = read_seal(beside(path, SEAL), None)
            freed = None
            if found.key == ours:
                _state(path, found, key, now)
                freed = sum(_removed(file) for file in (beside(path, TORN), path))
                sync_folder(path.parent)
            yield OldSegment(path, found.key, freed)


def _removed(file: Path) -> int:
    """Delete a file, if it is there. Returns its bytes. Raises OSError."""
    size = file.stat().st_size if is_plain(file) else 0
    file.unlink(missing_ok=True)
    return size


def _state(segment: Path, found: ReadSeal, key: Ed25519PrivateKey, now: datetime) -> None:
    said = {"format": FORMAT, "seal": found.hash, "pruned": now.isoformat(), "key": key_text(key.public_key())}
    write_signed(segment, "pruned", json.dumps(said).encode() + b"\n", key)


def is_pruned(journal: Path, found: ReadSeal) -> bool:
    """Whether a statement, signed with the key of the seal, says that the segment was deleted. Raises OSError."""
    file = beside(journal / found.seal.name.path, "pruned")
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
