"""Recovery: the next writer seals the segments that a killed writer left, so that the loss is visible and final.

Rules:
* A segment without a seal whose lock is free has no writer any more.
* A file that was to become a segment, and whose lock is free, is removed: its writer was killed before it had its name.
* A chain is sealed in its order, since each seal names the one before it. Several processes may try at once: the one
  that gets the lock of the chain's last segment seals the chain, and the others leave the chain to it.
* Whole frames are kept as they are. A torn frame at the end is moved to a file beside the segment, so that Spark can
  read the rest.
* A seal that the writer prepared gets its name if it covers the whole segment: the writer was ending in order.
* Any other seal says `killed`, whoever writes it: events that were not on disk may be missing.
* The seal proves what was found, not what the writer wrote. Anything that was found is sealed: `verify` reports what
  does not fit into its chain. A copy at another path is left alone.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.frames import frames
from plugins.audit.open_segment import UNNAMED
from plugins.audit.plain_files import create, is_plain, listed, pass_over
from plugins.audit.seals import SEAL, BadSealError, Seal, SegmentEnd, prepared, put_in_place, read_seal, seal
from plugins.audit.segments import CHECK, SegmentName, beside, by_chain, checks, hours, segments
from proxy.plugin.files import lock_if_free, lock_soon

TORN = "torn"  # the ending of the file with a torn frame
MOST_EVENTS = 1 << 62  # of a chain
MOST_CHAINS = 100  # the newest chains, which a new chain names; older ones were named by these
PATIENCE = 5.0  # seconds to wait for the lock of a file without a writer: readers and recoveries hold it briefly


def recover(journal: Path, key: Ed25519PrivateKey, told: Callable[[Path], object] = lambda path: None) -> list[Path]:
    """Seal the segments that a killed writer left, and return them. Raises OSError.

    `told` gets each as soon as it is sealed: another one may raise.
    """
    for folder in hours(journal, pass_over):
        _remove_unnamed(folder)
    names = (name for path in segments(journal, pass_over) if (name := SegmentName.of(path)))
    left = [name for name in names if _is_left(journal / name.path)]
    sealed = []
    for chain in by_chain(left).values():
        for name in _recovered(journal, chain, key):
            sealed.append(journal / name.path)
            told(sealed[-1])
    return sealed


def _remove_unnamed(folder: Path) -> None:
    for entry in listed(folder, pass_over):
        if not entry.name.endswith(f".{UNNAMED}"):
            continue  # nearly all files: a journal has very many
        file = folder / entry.name
        segment = file.with_name(f"{file.stem.removeprefix('_')}.jsonl.zst")
        if file == beside(segment, UNNAMED) and SegmentName.of(segment) and is_plain(file):
            with suppress(OSError), open(file, "r+b") as opened:  # one that cannot be removed does no harm
                if lock_if_free(opened.fileno()):
                    file.unlink()


def _is_left(path: Path) -> bool:
    return is_plain(path) and not is_plain(beside(path, SEAL))


def _recovered(journal: Path, chain: list[SegmentName], key: Ed25519PrivateKey) -> Iterator[SegmentName]:
    """Seal these segments of a chain, in its order, unless a process has the last one. Gives each that it sealed."""
    *before, last = chain
    # A file that is gone was taken away by a writer that could not write it, or by a user: the rest is left alone.
    with suppress(FileNotFoundError), open(journal / last.path, "r+b") as newest:
        # A reader shares this lock. A writer does not, nor does another process that recovers: nobody waits for these.
        if not lock_if_free(newest.fileno(), shared=True) or not lock_soon(newest.fileno(), PATIENCE):
            return
        for name in before:
            with open(journal / name.path, "r+b") as opened:
                if not lock_soon(opened.fileno(), PATIENCE):
                    return
                if _sealed(journal, name, opened, key):
                    yield name
        if _sealed(journal, last, newest, key):
            yield last


def newest_seals(journal: Path) -> dict[str, str]:
    """The newest chains of a journal, each with the hash of its newest seal."""
    newest: dict[str, SegmentName] = {}
    for path in segments(journal, pass_over):
        name = SegmentName.of(path)
        if name and is_plain(beside(journal / name.path, SEAL)):
            newest[name.chain] = max(newest.get(name.chain, name), name)
    latest = sorted(newest.values(), key=lambda name: name.begun)[-MOST_CHAINS:]
    return {name.chain: sha256(_said(beside(journal / name.path, SEAL))).hexdigest() for name in latest}


def is_locked(path: Path) -> bool:
    """Whether a process is writing this segment."""
    with open(path, "rb") as opened:
        return not lock_if_free(opened.fileno(), shared=True)


def _said(seal: Path) -> bytes:
    """The line that a seal signs."""
    with open(seal, "rb") as opened:
        return opened.readline()


def _sealed(journal: Path, name: SegmentName, opened: BinaryIO, key: Ed25519PrivateKey) -> bool:
    """Seal a segment whose lock is held, as it is found."""
    path = journal / name.path
    if not _is_left(path) or not os.path.samestat(os.fstat(opened.fileno()), os.stat(path)):
        return False  # another process sealed it; or its writer could not write it, and took it away
    data = opened.read()
    if _is_prepared(path, name, data, key):
        put_in_place(path, SEAL)
        return True
    end, found = 0, []
    for end, lines in frames(data):  # noqa: B007 (the last one counts)
        found += lines
    if data[end:]:
        with create(beside(path, TORN)) as torn_off:
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


def _is_prepared(path: Path, name: SegmentName, data: bytes, key: Ed25519PrivateKey) -> bool:
    """Whether there is a seal of exactly this segment that has no name yet."""
    file = prepared(path, SEAL)
    try:
        found = read_seal(file, key.public_key()).seal if is_plain(file) else None
    except BadSealError:
        return False
    return found is not None and found.name == name and found.sha256 == sha256(data).hexdigest()


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
