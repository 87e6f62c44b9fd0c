"""Authorizer: the rules in force for the clients of one cluster."""

from __future__ import annotations

from proxy.plugin import Api, Count, Services
from proxy.plugin.files import WatchedFile
from rules import RuleDecision, Snapshot


class Authorizer:
    """The rules of one cluster's clients. `name` is the plugin's, `now` gives seconds since 1970 UTC."""

    def __init__(self, services: Services, rules: WatchedFile[Snapshot], *, shadow: bool) -> None:
        self.name = services.name
        self.rules = rules
        self.now = services.clock.wall
        self.shadow = shadow
        self.is_timed = False  # whether a rule depends on the time
        self.is_over = False  # whether other rules, or none, decide from now on
        self._seen: Snapshot | None = None
        self._places: dict[object, str] = {}  # of rules that decided, as file:line:column
        self._counter = services.counter
        self._refused: dict[Api, Count] = {}

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

    def count_refusal(self, api: Api) -> None:
        """Count a resource of a request of this API that is not allowed."""
        count = self._refused.get(api)
        if count is None:
            said = "What the rules did not allow; `enforced` no: it was let through."
            enforced = "no" if self.shadow else "yes"
            count = self._counter("refusals", said, unit="{resource}", api=api.name, enforced=enforced)
            self._refused[api] = count
        count.add()
