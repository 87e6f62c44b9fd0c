"""Recovery: the next writer seals the segments that a killed writer left, so that the loss is visible and final.

Rules:
* A segment without a seal whose lock is free has no writer any more. Several processes may try at once: the one that
  gets the lock seals it.
* Whole frames are kept as they are. A torn frame at the end is moved to a file beside the segment, so that Spark can
  read the rest.
* The seal says `killed`, whoever writes it: up to 100 ms of events before the end may be missing.
* The seal proves what was found, not what the writer wrote. Anything that was found is sealed: `verify` reports what
  does not fit into its chain. A copy at another path is left alone.
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
from plugins.audit.plain_files import create, is_plain, pass_over
from plugins.audit.seals import Seal, SegmentEnd, seal
from plugins.audit.segments import CHECK, SegmentName, beside, checks, segments

MOST_EVENTS = 1 << 62  # of a chain
MOST_CHAINS = 100  # the newest chains, which a new chain names; older ones were named by these


def recover(journal: Path, key: Ed25519PrivateKey) -> list[Path]:
    """Seal the segments that a killed writer left, and return them. Raises OSError."""
    names = (name for path in segments(journal, pass_over) if (name := SegmentName.of(path)))
    unsealed = [name for name in names if not is_plain(beside(journal / name.path, "seal"))]
    return [journal / name.path for name in sorted(unsealed) if _sealed(journal, name, key)]


def newest_seals(journal: Path) -> dict[str, str]:
    """The newest chains of a journal, each with the hash of its newest seal."""
    newest: dict[str, SegmentName] = {}
    for path in segments(journal, pass_over):
        name = SegmentName.of(path)
        if name and is_plain(beside(journal / name.path, "seal")):
            newest[name.chain] = max(newest.get(name.chain, name), name)
    latest = sorted(newest.values(), key=lambda name: name.begun)[-MOST_CHAINS:]
    return {name.chain: sha256(_said(beside(journal / name.path, "seal"))).hexdigest() for name in latest}


def is_locked(path: Path) -> bool:
    """Whether a process is writing this segment."""
    with open(path, "rb") as opened:
        return not _lock(opened.fileno(), fcntl.LOCK_SH)


def _lock(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _said(seal: Path) -> bytes:
    """The line that a seal signs."""
    with open(seal, "rb") as opened:
        return opened.readline()


def _sealed(journal: Path, name: SegmentName, key: Ed25519PrivateKey) -> bool:
    path = journal / name.path
    if not is_plain(path):
        return False
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
        first = 1 if name.number == 1 else _after(previous) or _sequence(found[:1]) or 1
        digest = sha256(data[:end]).hexdigest()
        torn = len(data) - end
        previous_hash = None if previous is None else sha256(previous).hexdigest()
        seal(journal, Seal(name, digest, first, checks(found), SegmentEnd.KILLED, previous_hash, {}, torn), key)
        return True


def _previous(journal: Path, name: SegmentName) -> bytes | None:
    """The signed line of the seal before this one; None where there is none. Its segment may be pruned."""
    files = journal.glob(f"date=*/hour=*/_*-{name.chain}-{name.number - 1:06}.seal")
    return next((_said(file) for file in files if is_plain(file)), None)


def _after(said: bytes | None) -> int | None:
    """The first sequence number of the segment after this seal; None if the seal has none."""
    try:
        seal = json.loads(said or b"")
        return int(seal["first"]) + len(b64decode(seal["checks"])) // CHECK
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _sequence(lines: list[bytes]) -> int | None:
    """The sequence number of the first event; None if it has none."""
    try:
        sequence = json.loads(lines[0])["sequence"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return sequence if type(sequence) is int and 0 < sequence < MOST_EVENTS else None
