"""Noted rules: which rules decided on a request, for plugins that observe it.

Rules:
* The plugin `acl` notes them on each request that it decides. If other rules decide on the answer, it notes those
  instead. So a request names the rules that decided on it last, whatever is in force when it ends.
* A request that passes by a fast path has the note of its sample: the same rules decided on both.
* On the connection `acl` notes which rules are in force. They are named where no rules decided.
* An observer asks which rule decided; that makes no new decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from proxy.core.context import Connection, Context
from rules.vocabulary import Operation, ResourceType

RULES_NOTE = "rules that decided"  # the key of the note on a request
_IN_FORCE = "rules in force"


class DecidingRules(Protocol):
    """The rules that decide on requests of one client, as they were at one moment. `id`: that of the rules."""

    @property
    def id(self) -> str: ...

    def place(self, operation: Operation, kind: ResourceType, name: str) -> str | None:
        """The place of the rule that decides on this, as file:line:column; None: no rule does. From any thread."""


RulesInForce = Callable[[], DecidingRules | None]  # None: there are none any more


def note_rules(ctx: Context, rules: DecidingRules) -> None:
    """Note that these rules decide on this request."""
    ctx.notes[RULES_NOTE] = rules


def noted_rules(ctx: Context) -> DecidingRules | None:
    """The rules that decided last on this request or its answer; None if none did."""
    rules: DecidingRules | None = ctx.notes.get(RULES_NOTE)
    return rules


def note_in_force(connection: Connection, rules: RulesInForce) -> None:
    """Note who says from now on which rules are in force on this connection."""
    connection.notes[_IN_FORCE] = rules
    connection.edition = object()


def rules_in_force(connection: Connection) -> RulesInForce:
    """Says which rules are in force on this connection, until its edition changes."""
    rules: RulesInForce = connection.notes.get(_IN_FORCE, _no_rules)
    return rules


def _no_rules() -> None:
    """No rules are in force."""
