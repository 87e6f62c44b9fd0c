"""Requests that the rules would refuse: each request is checked one by one."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from rules import Client, Operation, ResourceType
from tests.plugins.audit.reports.recount.counted import Event, Rows, since, until
from tests.plugins.audit.reports.recount.rights import Right, asked

NAMES = {"Read": "READ", "Write": "WRITE", "AlterConfigs": "ALTER_CONFIGS"}


def rows(events: list[Event], inputs: Inputs) -> Rows:
    assert inputs.rules is not None
    told: dict[tuple[str, str, str, str, str, str], list[Right]] = {}
    for right in asked(events):
        if right.refused:
            continue
        told.setdefault((*right[:4], right.event["client_host"], right.event.get("client_id") or ""), []).append(right)
    for (principal, operation, kind, name, host, client_id), some in told.items():
        client = Client(principal, host=host, client_id=client_id)
        asked_for = Operation[NAMES.get(operation, operation.upper())], ResourceType[kind.upper()]
        decision = inputs.rules.decide(client, *asked_for, name)
        if not decision.allowed:
            place = decision.place and f"{inputs.rules_file}:{decision.place.line}:{decision.place.column}"
            seen = [at for right in some for at in (since(right.event), until(right.event))]
            what = principal, host, client_id, operation, kind, name
            yield *what, sum(right.times for right in some), min(seen), max(seen), place, decision.why.value
