"""Ended: a request that has its answer, or gets none, with all that decides what is told of it.

Rules:
* It is as it was when the request ended: a client that turns out to be somebody else later, and levels that change,
  change nothing of it. So its event may be made later, in another thread.
* It is plain if the broker answered it, no plugin decided anything, and each error is of a resource that is named. Only
  plain ones may be counted together: of any other there is more to tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plugins.audit.events import RequestSubjects
from plugins.audit.levels import ClientLevels, FoundLevel
from plugins.audit.moved import Counted, Names, PartitionTraffic
from plugins.audit.party import KnownParty
from plugins.audit.shared import SharedFields
from proxy.plugin import By, Context, ErrorCode, Outcome
from rules.noted import NotedRules


class FoundResource(NamedTuple):
    """A resource of a request: how much is told of it, its key and its name, and what came of it."""

    level: FoundLevel
    key: Counted
    name: str | None
    moved: PartitionTraffic


class EndedRequest(NamedTuple):
    """A request that ended at a moment, in seconds since 1970. `levels` None: all is told in full."""

    ctx: Context
    outcome: Outcome
    subjects: RequestSubjects
    at: float
    known: KnownParty
    party: SharedFields
    levels: ClientLevels | None
    rules: NotedRules | None

    def found(self, levels: ClientLevels, name_of: Names) -> list[FoundResource]:
        """The resources that it is about, with their levels."""
        api, version = self.ctx.api, self.ctx.version
        return [
            FoundResource(levels.level(api, version, key[0], name, key[2]), key, name, moved)
            for key, name, moved in self.subjects.moved(name_of)
        ]

    def is_plain(self, found: Iterable[FoundResource]) -> bool:
        """Is there nothing to tell of it beyond what came of these resources?"""
        subjects, outcome = self.subjects, self.outcome
        is_plain = not outcome.decisions and (outcome.by is By.BROKER or not subjects.wants_answer)
        return is_plain and not subjects.left_out and _are_of(subjects.errors, found)


def _are_of(errors: Iterable[str] | None, found: Iterable[FoundResource]) -> bool:
    """Is each of an answer's errors one of these resources'?"""
    return not errors or {ErrorCode(one.moved.error).name for one in found if one.moved.error}.issuperset(errors)
