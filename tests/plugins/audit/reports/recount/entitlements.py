"""Granted rights and used rights: every grant is compared with every use."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, until
from tests.plugins.audit.reports.recount.rights import asked

IMPLY = {"Read": ("Describe",), "Write": ("Describe",), "Delete": ("Describe",), "Alter": ("Describe",)}


def rows(events: list[Event], inputs: Inputs) -> Rows:
    assert inputs.rules is not None
    uses: dict[tuple[str, str, str, str, str, str], list[int]] = {}
    last: dict[tuple[str, str, str, str, str, str], str] = {}
    for right in asked(events):
        if right.refused:
            continue
        key = *right[:4], right.event["client_host"], right.event.get("client_id") or ""
        uses[key] = [uses.get(key, [0])[0] + right.times]
        last[key] = max(last.get(key, ""), until(right.event))
    for rule in inputs.rules.rules:
        acl = rule.acl
        if acl.deny is not None:
            continue
        for principal in acl.principals:
            for granted in acl.to:
                for kind, pattern in acl.resources():
                    exact = implied = 0
                    names, when = set(), None
                    for (who, operation, of, name, host, client_id), (times,) in uses.items():
                        if principal not in (who, "User:*") or of != kind.name.lower():
                            continue
                        from_ = [one.text for one in acl.from_ or ()]
                        ids = [one.name for one in acl.client_id or ()]
                        if not pattern.holds(name) or (from_ and host not in from_) or (ids and client_id not in ids):
                            continue
                        if granted.word in (operation, "All"):
                            exact += times
                        elif operation in IMPLY.get(granted.word, ()):
                            implied += times
                        else:
                            continue
                        names.add(name)
                        when = max(when or "", last[who, operation, of, name, host, client_id])
                    state = "used" if exact else "only to describe" if implied else "never used"
                    place = f"{inputs.rules_file}:{rule.place.line}:{rule.place.column}"
                    shown = pattern.name + ("*" if pattern.type.name == "PREFIXED" else "")
                    hosts = ", ".join(one.text for one in acl.from_ or ()) or None
                    what = principal, granted.word, kind.name.lower(), shown, hosts, place
                    yield *what, state, exact, implied, len(names), when
