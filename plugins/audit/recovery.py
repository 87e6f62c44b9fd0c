"""Recovery: segments that a killed writer left are sealed by the next one, so that its loss shows and does not grow.

Rules:
* A segment without a seal whose lock is free has no writer any more. Several processes may look at once: who gets the
  lock seals it.
* What is whole is kept as it is. A torn frame at the end is moved to a file beside the segment: Spark reads the rest.
* The seal says `killed`, by whoever writes it: up to 100 ms of events before the end may be missing.
"""

from __future__ import annotations

import fcntl
import json
import os
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.frames import frames
from plugins.audit.plain_files import create, is_plain
from plugins.audit.seals import Seal, SegmentEnd, seal
from plugins.audit.segments import CHECK, SegmentName, beside, checks, segments

MOST_CHAINS = 100  # that a new chain names: each of them was named by those before it


def recover(journal: Path, key: Ed25519PrivateKey) -> list[Path]:
    """Seal what was left. Gives these segments. Raises OSError."""
    unsealed = [path for path in segments(journal) if not is_plain(beside(path, "seal"))]
    by_number = sorted((SegmentName.of(path), path) for path in unsealed)
    return [path for name, path in by_number if name and _sealed(journal, name, path, key)]


def newest_seals(journal: Path) -> dict[str, str]:
    """The chains of a journal that began last, each with the hash of its newest seal."""
    newest: dict[str, SegmentName] = {}
    for path in segments(journal):
        name = SegmentName.of(path)
        if name and is_plain(beside(journal / name.path, "seal")):
            newest[name.chain] = max(newest.get(name.chain, name), name)
    latest = sorted(newest.values(), key=lambda name: name.begun)[-MOST_CHAINS:]
    return {name.chain: sha256(_said(journal / name.path)).hexdigest() for name in latest}


def is_locked(path: Path) -> bool:
    """Is somebody writing this segment?"""
    with open(path, "rb") as opened:
        return not _lock(opened.fileno(), fcntl.LOCK_SH)


def _lock(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _said(segment: Path) -> bytes:
    """The line that a segment's seal signs."""
    with open(beside(segment, "seal"), "rb") as opened:
        return opened.readline()


def _sealed(journal: Path, name: SegmentName, path: Path, key: Ed25519PrivateKey) -> bool:
    with open(path, "r+b") as opened:
        if not _lock(opened.fileno(), fcntl.LOCK_EX) or is_plain(beside(path, "seal")):
            return False
        data = opened.read()
        end, found = 0, []
        for end, lines in frames(data):  # noqa: B007 (the last one counts)
            found += lines
        if data[end:]:
            with create(beside(path, "torn")) as torn_off:
                torn_off.write(data[end:])
            opened.truncate(end)
            os.fsync(opened.fileno())
        previous = _previous(journal, name)
        first = json.loads(found[0])["sequence"] if found else _after(previous)
        digest = sha256(data[:end]).hexdigest()
        torn = len(data) - end
        previous_hash = None if previous is None else sha256(previous).hexdigest()
        seal(journal, Seal(name, digest, first, checks(found), SegmentEnd.KILLED, previous_hash, {}, torn), key)
        return True


def _previous(journal: Path, name: SegmentName) -> bytes | None:
    """What the seal before this one says; None where there is none."""
    pattern = f"date=*/hour=*/*-{name.chain}-{name.number - 1:06}.jsonl.zst"
    for path in journal.glob(pattern):
        if is_plain(beside(path, "seal")):
            return _said(path)
    return None


def _after(said: bytes | None) -> int:
    """The sequence with which a segment begins that comes after this seal."""
    if said is None:
        return 1
    seal = json.loads(said)
    return int(seal["first"]) + len(b64decode(seal["checks"])) // CHECK
