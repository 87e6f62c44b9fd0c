"""Noted: by which rules a connection's requests are decided, for those who observe it.

# `acl` notes it on the connection. An observer asks which rule decided on something; that decides nothing anew.
# The answer is by the rules that the connection's last request was decided by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxy.core.context import Connection
from rules.vocabulary import Operation, ResourceType

_NOTED = "rules that decide"


class NotedRules(NamedTuple):
    """`edition` gives the id of the rules, None where none are in force any more; `place` that of the rule that decides
    whether something may be done with a resource, as file:line:column: None where none is about it."""

    edition: Callable[[], str | None]
    place: Callable[[Operation, ResourceType, str], str | None]


def note_rules(connection: Connection, rules: NotedRules) -> None:
    """These decide from now on."""
    connection.notes[_NOTED] = rules
    connection.edition = object()


def noted_rules(connection: Connection) -> NotedRules | None:
    """Those that decide; None: none do."""
    rules: NotedRules | None = connection.notes.get(_NOTED)
    return rules
