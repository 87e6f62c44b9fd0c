"""Noted rules: which rules decide about a connection's requests, for plugins that observe it.

Rules:
* The plugin `acl` notes them on the connection. An observer asks which rule decided; that makes no new decision.
* The answer comes from the rules that decided about the connection's last request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxy.core.context import Connection
from rules.vocabulary import Operation, ResourceType

_NOTED = "rules that decide"


class NotedRules(NamedTuple):
    """The rules that decide about a connection.

    `edition` gives the id of the rules, None where none are in force any more. `place` gives the place of the rule that
    decides on an operation with a resource, as file:line:column, and None where no rule is about it.
    """

    edition: Callable[[], str | None]
    place: Callable[[Operation, ResourceType, str], str | None]


def note_rules(connection: Connection, rules: NotedRules) -> None:
    """Note that these rules decide from now on."""
    connection.notes[_NOTED] = rules
    connection.edition = object()


def noted_rules(connection: Connection) -> NotedRules | None:
    """The rules that decide about this connection; None if there are none."""
    rules: NotedRules | None = connection.notes.get(_NOTED)
    return rules
