"""Verify: whether a journal is as it was written. If not: which segment, which events, and how they were changed.

Rules:
* `inventory.py` says what is there, and which seals count.
* A segment whose hash is the sealed one is as it was written. If its writer was killed, it is as the next start found
  it, and its events must follow each other.
* Segments of a chain are numbered without a gap and chained by their seals. The last seal of a chain says that it is
  the last, or its last segment is being written. The seals that a younger chain names of older ones must be there.
* A segment that no process writes and that has no seal proves nothing, and is reported.
* Losses that the journal itself accounts for are gaps, and no tampering: a writer that was killed, events that were
  lost. A segment that was pruned, with a statement signed by the journal's key, is no tampering either. It may be
  pruned while this runs.
* The journal alone cannot show that its newest chains are missing as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from plugins.audit.contents import Remark, sealed, unsealed
from plugins.audit.inventory import JournalInventory
from plugins.audit.plain_files import is_plain
from plugins.audit.pruning import is_pruned
from plugins.audit.recovery import is_locked
from plugins.audit.seals import SEAL, BadSealError, ReadSeal, SegmentEnd, read_seal
from plugins.audit.segments import SegmentName, beside


@dataclass
class Verified:
    """The result. `events` and `segments` count those that are as they were written; `keys` signed their seals."""

    remarks: list[Remark] = field(default_factory=list)
    segments: int = 0
    events: int = 0
    open: int = 0
    pruned: int = 0  # segments that were deleted with a signed statement
    keys: set[str] = field(default_factory=set)

    @property
    def is_intact(self) -> bool:
        """Whether nothing was altered."""
        return all(remark.gap for remark in self.remarks)


Fetched = Callable[[Path], AbstractContextManager[object]]


def verify(journal: Path, *trusted: Ed25519PublicKey, fetched: Fetched = lambda place: nullcontext()) -> Verified:
    """Check a whole journal. Its seals must be signed with one of these keys; without them, with any.

    Within the context `fetched(place)`, the segment at `place` has its bytes. Raises OSError.
    """
    return _Verifier(journal, trusted, fetched).run()


class _Verifier:
    def __init__(self, journal: Path, trusted: Sequence[Ed25519PublicKey], fetched: Fetched) -> None:
        self._journal = journal
        self._trusted = trusted
        self._fetched = fetched
        self._there = there = JournalInventory(journal, trusted)
        self._verified = Verified(there.remarks, keys={found.key for found in there.seals.values()})

    def run(self) -> Verified:
        for _, names in sorted(self._there.chains.items()):
            self._chain(names)
        self._others()
        return self._verified

    def _say(self, place: Path, what: str, first: int | None = None, last: int | None = None) -> None:
        self._verified.remarks.append(Remark(place, what, first, last))

    # A chain

    def _chain(self, names: list[SegmentName]) -> None:
        before: ReadSeal | None = None
        number, last = 0, names[-1]
        for name in names:
            if number == 0:
                after: int | None = 1
            else:
                after = before.seal.last + 1 if before else None
            seal = self._there.seals.get(name)
            if name.number == number:
                self._say(name.path, "there is another segment of this number; one of them was copied")
            elif name.number > number + 1:
                self._missing(name, number, after)
                after = None
            elif seal and before:
                self._linked(name, seal, before)
            if name not in self._there.files:
                self._gone(name, seal)
            else:
                self._check(name, seal, after, name is last)
            number, before = name.number, seal
        if before and before.seal.end is SegmentEnd.ROTATED and not self._is_followed(last):
            self._say(last.path, "what followed this segment was cut off", before.seal.last + 1)

    def _is_followed(self, name: SegmentName) -> bool:
        """Whether the next segment of its chain was begun while the folders were read, too late to be seen then."""
        return any(self._journal.glob(f"date=*/hour=*/*-{name.chain}-{name.number + 1:06}.jsonl.zst"))

    def _missing(self, name: SegmentName, number: int, after: int | None) -> None:
        until = self._there.seals[name].seal.first - 1 if name in self._there.seals else None
        gone = f"{number + 1} to {name.number - 1}" if name.number > number + 2 else str(number + 1)
        self._say(name.path, f"before this segment of its chain {gone} was deleted", after, until)

    def _linked(self, name: SegmentName, seal: ReadSeal, before: ReadSeal) -> None:
        if seal.seal.previous != before.hash:
            self._say(name.path, "it was sealed behind another segment than the one before it")
        elif seal.seal.first != before.seal.last + 1:
            self._say(name.path, "its events do not follow those before it", before.seal.last + 1, seal.seal.first - 1)
        if seal.key != before.key and seal.seal.end is not SegmentEnd.KILLED:  # who seals that may have another key
            self._say(name.path, "it was sealed with another key than the one before it")

    def _gone(self, name: SegmentName, seal: ReadSeal | None) -> None:
        if seal is not None and is_pruned(self._journal, seal):
            self._verified.pruned += 1
        else:
            events = (seal.seal.first, seal.seal.last) if seal else (None, None)
            self._say(name.path, "the segment was deleted", *events)

    def _check(self, name: SegmentName, seal: ReadSeal | None, after: int | None, is_last: bool) -> None:
        try:
            if seal is not None:
                self._sealed(name, seal, is_last)
            else:
                self._unsealed(name, after, is_last)
        except FileNotFoundError:  # it was there: it takes long to read a large journal
            self._gone(name, seal or self._sealed_now(name))

    def _sealed(self, name: SegmentName, seal: ReadSeal, is_last: bool) -> None:
        with self._fetched(name.path):
            remarks = list(sealed(self._journal, name, seal.seal, is_last))
        self._verified.remarks += remarks
        if all(remark.gap for remark in remarks):
            self._verified.segments += 1
            self._verified.events += seal.seal.last - seal.seal.first + 1

    def _unsealed(self, name: SegmentName, after: int | None, is_last: bool) -> None:
        with self._fetched(name.path):
            remarks = list(unsealed(self._journal, name, after))
        if name in self._there.bad:
            pass  # reported already
        elif is_locked(self._journal / name.path) or self._sealed_now(name):
            self._verified.open += 1
        elif not is_last:
            self._say(name.path, "its seal was deleted: nothing proves what is in it")
        else:
            self._say(name.path, f"it has no seal: nothing proves what is in it; {_UNSEALED}")
        self._verified.remarks += remarks

    def _sealed_now(self, name: SegmentName) -> ReadSeal | None:
        """The seal of a segment that was sealed after the seals were read."""
        file = beside(self._journal / name.path, SEAL)
        try:
            found = read_seal(file, *self._trusted) if is_plain(file) else None
        except BadSealError:
            return None
        return found if found is not None and found.seal.name == name else None

    # All chains

    def _others(self) -> None:
        """Check that the seals of older chains, which a chain names at its beginning, are there."""
        known = {(name.chain, seal.hash) for name, seal in self._there.seals.items()}
        for name, found in sorted(self._there.seals.items()):
            for chain, hash_ in found.seal.others.items():
                if (chain, hash_) not in known:
                    there = "its newest seal of then is gone" if chain in self._there.chains else "all of it is gone"
                    self._say(name.path, f"this segment was written when the chain {chain} was there: {there}")


_UNSEALED = "if its writer was killed, the next start of the proxy seals it"
