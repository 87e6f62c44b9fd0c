"""Authorizer: the rules in force for the clients of one cluster."""

from __future__ import annotations

from collections.abc import Collection

from proxy.plugin import Api, Count, Services
from proxy.plugin.files import WatchedFile
from rules import RuleDecision, Snapshot


class Authorizer:
    """The rules of one cluster's clients. `name` is the plugin's, `now` gives seconds since 1970 UTC.

    `always`: the APIs whose refusals are enforced in shadow too.
    """

    def __init__(
        self, services: Services, rules: WatchedFile[Snapshot], *, shadow: bool, always: Collection[Api] = ()
    ) -> None:
        self.name = services.name
        self.rules = rules
        self.now = services.clock.wall
        self.shadow = shadow
        self.always = always
        self.is_timed = False  # whether a rule depends on the time
        self.is_over = False  # whether other rules, or none, decide from now on
        self._seen: Snapshot | None = None
        self._places: dict[object, str] = {}  # of rules that decided, as file:line:column
        self._counter = services.counter
        self._refused: dict[tuple[Api, bool], Count] = {}  # by API, and whether refusals are enforced

    def edition(self) -> tuple[Snapshot, int]:
        """The rules in force now, and the present second if a rule depends on the time (else 0)."""
        snapshot = self.rules.value
        if snapshot is not self._seen:
            self._seen, self._places = snapshot, {}
            self.is_timed = any(rule.acl.during is not None for rule in snapshot.rules)
        return snapshot, int(self.now()) if self.is_timed else 0

    def place(self, decision: RuleDecision) -> str | None:
        """The place of the rule that decided, as file:line:column; None: nothing in the file did."""
        at = decision.place
        if at is None:
            return None
        told = self._places.get(at)
        if told is None:
            told = self._places[at] = f"{self.rules.file}:{at.line}:{at.column}"
        return told

    def count_refusal(self, api: Api, enforced: bool) -> None:
        """Count a resource of a request of this API that is not allowed."""
        count = self._refused.get((api, enforced))
        if count is None:
            said = "What the rules did not allow; `enforced` no: it was let through."
            told = "yes" if enforced else "no"
            count = self._counter("refusals", said, unit="{resource}", api=api.name, enforced=told)
            self._refused[api, enforced] = count
        count.add()
