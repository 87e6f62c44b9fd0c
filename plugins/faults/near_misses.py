"""Near misses: which of the reasons why a fault does not match a request are noted.

Rules:
* Of each fault only the first few are noted, each with another reason.
* A subject is compared with a fault once, since finding the words takes 5 us. Of the subjects only hashes are kept.
"""

from __future__ import annotations

from collections.abc import Collection

from rules.match import Match, Subject
from rules.unlike import unlike_subject

FEW = 10  # near misses of one fault that are noted, and subjects that are known to have been compared


class NearMisses:
    """What is known of the near misses of all faults, by their names."""

    def __init__(self) -> None:
        self._reasons: dict[str, set[str]] = {}
        self._compared: dict[str, set[int]] = {}

    def keep(self, names: Collection[str]) -> None:
        """Begin anew with all other faults."""
        for known in (self._reasons, self._compared):
            for name in known.keys() - set(names):
                del known[name]

    def is_new(self, name: str, why: str) -> bool:
        """Whether a near miss for this reason is to be noted."""
        noted = self._reasons.setdefault(name, set())
        if len(noted) == FEW or why in noted:
            return False
        noted.add(why)
        return True

    def unlike(self, name: str, match: Match, subject: Subject) -> str:
        """Why a fault does not match a subject, in words; nothing if no more is noted, or was found before."""
        compared = self._compared.setdefault(name, set())
        if len(self._reasons.get(name, ())) == FEW or hash(subject) in compared:
            return ""
        if len(compared) == FEW:
            compared.clear()
        compared.add(hash(subject))
        return " and ".join(unlike_subject(match, subject))
