"""Empty: a fetch returns no records, though the broker has some."""

from __future__ import annotations

from typing import ClassVar

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from plugins.faults.records import FETCHING
from proxy.plugin import Decision, Forward
from rules.trigger import Firing


class EmptyAnswer(AnswerEffect):
    """Leave the records out of an answer."""

    apis: ClassVar = FETCHING

    def cannot(self, target: Target) -> str | None:
        has_some = any(getattr(it, "records", None) for it in target.structs(RECORDS_LEVEL))
        return None if has_some else "it has no records"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for struct in target.structs(RECORDS_LEVEL):
            struct.records = b""
        return Forward(target.message)
