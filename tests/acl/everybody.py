"""All scenarios at once: those of the files, and one for each real client, with its own topics and rules.

Rules:
* No client sees the effects of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tests.acl import administration, clients, sequences, streams
from tests.acl.language import Given
from tests.acl.load import Scenario, load

CLIENTS: Mapping[str, tuple[Given, tuple[str, ...]]] = {
    **dict.fromkeys(clients.NAMES, (clients.GIVEN, ("alice",))),
    "administrators": (administration.GIVEN, administration.PEOPLE),
    "sessions": (sequences.GIVEN, tuple(dict.fromkeys(sequences.PEOPLE))),
    "streams": (streams.GIVEN, ("alice",)),
}


@cache
def everybody() -> tuple[Scenario, ...]:
    """The scenarios of the files, and one without steps for each client, which only prepares its topics and rules."""
    scenarios = load()
    for number, (name, (given, people)) in enumerate(CLIENTS.items(), len(scenarios) + 1):
        scenarios.append(Scenario(number, "clients", "deny", name, given, steps=(), people=people))
    return tuple(scenarios)


def own(name: str) -> Scenario:
    """The scenario of one client."""
    return next(each for each in everybody() if each.theme == "clients" and each.name == name)
