"""Inventory: what is in the folders of a journal: segments, their seals, and what does not belong there.

Rules:
* A seal counts only with a valid signature, and beside the segment that it names.
* A file that is no segment, and none that belongs to one, is reported; so is one in a folder that is not its own, and
  a link, a pipe or a device. Files that are being made (`.tmp`) are left out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from plugins.audit.contents import Remark
from plugins.audit.plain_files import below, is_plain
from plugins.audit.seals import BadSealError, ReadSeal, read_seal
from plugins.audit.segments import SegmentName, by_chain


class JournalInventory:
    """What is in a journal now. Its seals must be signed with one of these keys; without them, with any.

    `files` are the segments that are there, `seals` those that count, `bad` the segments with a seal that proves
    nothing. Raises OSError.
    """

    def __init__(self, journal: Path, trusted: Sequence[Ed25519PublicKey]) -> None:
        self._journal = journal
        self._trusted = trusted
        self.files: dict[SegmentName, Path] = {}
        self.seals: dict[SegmentName, ReadSeal] = {}
        self.bad: set[SegmentName] = set()
        self.remarks: list[Remark] = []
        for path in below(journal):
            if not path.name.endswith(".tmp"):
                self._take(path)
        self.chains = by_chain({*self.files, *self.seals, *self.bad})

    def _take(self, path: Path) -> None:
        place = path.relative_to(self._journal)
        if not is_plain(path) and os.path.lexists(path):
            self._say(place, "a link, a pipe or a device stands here; a journal has plain files alone")
            return
        segment = place.with_name(f"{place.stem.removeprefix('_')}.jsonl.zst")
        name = SegmentName.of(place if place.name.endswith(".jsonl.zst") else segment)
        if name is None or place.suffix not in (".zst", ".seal", ".torn", ".pruned"):
            self._say(place, "this file is not of the journal")
        elif name.path.parent != place.parent:
            self._say(place, f"this file belongs into {name.path.parent.as_posix()}; it was moved or copied")
        elif place.suffix == ".zst":
            self.files[name] = place
        elif place.suffix == ".seal":
            self._read(name, place)

    def _read(self, name: SegmentName, place: Path) -> None:
        try:
            found = read_seal(self._journal / place, *self._trusted)
            if found.seal.name != name:
                raise BadSealError(f"it is the seal of {found.seal.name.path.as_posix()}")
        except BadSealError as error:
            self.bad.add(name)
            self._say(place, f"the seal was altered: {error}")
        else:
            self.seals[name] = found

    def _say(self, place: Path, what: str) -> None:
        self.remarks.append(Remark(place, what))
