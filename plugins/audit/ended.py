"""Ended: a request that has its answer, or gets none, with everything that its event depends on.

Rules:
* It is a snapshot of the moment when the request ended. A later change of the client's identity, of the rules or of the
  levels does not change it. So its event may be made later, in another thread.
* `rules` decided on the request, and are not necessarily those in force when it ended. None: no rules decided.
* A request is plain if the broker answered it, no plugin decided anything, and each error belongs to a named resource.
  Only plain requests may be counted together: of any other there is more to record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plugins.audit.events import RequestSubjects
from plugins.audit.levels import ClientLevels, FoundLevel
from plugins.audit.moved import Counted, NameOf, PartitionTraffic
from plugins.audit.party import KnownParty
from plugins.audit.shared import SharedFields
from proxy.plugin import By, Context, ErrorCode, Outcome
from rules.noted import DecidingRules


class FoundResource(NamedTuple):
    """A resource of a request: its level, key and name, and its result."""

    level: FoundLevel
    key: Counted
    name: str | None
    moved: PartitionTraffic


class EndedRequest(NamedTuple):
    """A request that ended at `at`, in seconds since 1970. `levels` None: everything is recorded in full."""

    ctx: Context
    outcome: Outcome
    subjects: RequestSubjects
    at: float
    known: KnownParty
    party: SharedFields
    levels: ClientLevels | None
    rules: DecidingRules | None

    def found(self, levels: ClientLevels, name_of: NameOf) -> list[FoundResource]:
        """The resources of the request, with their levels."""
        api, version = self.ctx.api, self.ctx.version
        return [
            FoundResource(levels.level(api, version, self.at, key[0], name, key[2]), key, name, moved)
            for key, name, moved in self.subjects.moved(name_of)
        ]

    def is_plain(self, found: Iterable[FoundResource]) -> bool:
        """Whether the results of these resources say everything about the request."""
        subjects, outcome = self.subjects, self.outcome
        is_plain = not outcome.decisions and (outcome.by is By.BROKER or not subjects.wants_answer)
        return is_plain and not subjects.left_out and _are_of(subjects.errors, found)


def _are_of(errors: Iterable[str] | None, found: Iterable[FoundResource]) -> bool:
    """Whether each error of an answer belongs to one of these resources."""
    return not errors or {ErrorCode(one.moved.error).name for one in found if one.moved.error}.issuperset(errors)
