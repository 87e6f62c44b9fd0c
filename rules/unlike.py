"""Unlike: why a rule does not match a request, in words for the person who expected it to.

    topic is "payments", not "orders"

Rules:
* It is asked only about requests of an API that the rule names. The hours are left out: they are no property of it.
* Where the topic is another one, nothing is said of the partition.
* A subject may lack a property that the rule names, as a heartbeat has no topic. Nothing is said of such a subject.
"""

from __future__ import annotations

from typing import Any

from proxy.text.words import shown
from rules.match import Match, RequestFacts, Subject, among, named

Unlike = tuple[str, ...]


def unlike_request(match: Match, request: RequestFacts) -> Unlike:
    """Every property of the request as a whole that does not match."""
    client = request.client
    known = {"version": request.version, "broker": request.broker, "principal": client.principal}
    holds = {
        "version": match.is_of_version(request.version),
        "broker": among(match.broker, request.broker),
        "principal": named(match.principal, client.principal),
    }
    for option, condition in match.conditions.items():
        known[option] = client.host if option == "from_" else getattr(client, option)
        holds[option] = bool(condition(client, None))
    return tuple(_line(match, option, known[option]) for option, does in holds.items() if not does)


def unlike_subject(match: Match, subject: Subject) -> Unlike:
    """Every property of one subject of a request that does not match."""
    if any(getattr(subject, option) is None for option in match.of_things):
        return ()
    unlike = [option for option in match.of_things if not match.holds(option, getattr(subject, option))]
    if "topic" in unlike and "partition" in unlike:
        unlike.remove("partition")
    return tuple(_line(match, option, getattr(subject, option)) for option in unlike)


def _line(match: Match, option: str, value: Any) -> str:
    said = getattr(match, option)
    meant = " or ".join(map(_word, said if isinstance(said, tuple) else (said,)))
    known = "not known" if value is None else shown(value)
    return f"{option.rstrip('_').replace('_', ' ')} is {known}, not {meant}"


def _word(said: Any) -> str:
    """One value of an option, as it is written in a file."""
    if isinstance(said, range):
        return f"{said[0]}-{said[-1]}" if len(said) > 1 else str(said[0])
    written = getattr(said, "written", said)
    return shown(*written.values()) if isinstance(written, dict) else shown(written)
