"""Empty: a fetch brings no records, though there are some."""

from __future__ import annotations

from collections.abc import Iterator

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import Effect, FaultSide, Target
from proxy.plugin import Api, Decision, Forward, Meaning, leading
from rules.trigger import Firing


class EmptyAnswer(Effect):
    """Leave the records out of an answer."""

    @property
    def at(self) -> FaultSide:
        return FaultSide.AFTER_BROKER

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        if not any(leading(api.response, Meaning.RECORDS) for api in apis):
            named = ", ".join(sorted(api.name for api in apis))
            yield "", f"no answer of {named} has records; name Fetch or ShareFetch"

    def cannot(self, target: Target) -> str | None:
        has_some = any(getattr(it, "records", None) for it in target.structs(RECORDS_LEVEL))
        return None if has_some else "it has no records"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for struct in target.structs(RECORDS_LEVEL):
            struct.records = b""
        return Forward(target.message)
