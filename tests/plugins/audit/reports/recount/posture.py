"""The protection of connections: TLS and authentication."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, grouped, since, until


def rows(events: list[Event], inputs: Inputs) -> Rows:
    about = ("connection_", "authentication_")
    told = (event for event in events if event["kind"].startswith(about) and "connection" in event)
    connections = [_refused(event) for event in events if event["kind"] == "connection_failed"]
    for some in grouped(told, "instance", "worker", "connection").values():
        known = {name: value for event in some for name, value in event.items() if name != "why"}
        known["concern"] = _concern(known.get("tls"), known.get("mechanism"), "tls_subject" in known)
        known["first"] = known["last"] = min(event["time"] for event in some)
        connections.append(known)
    for (*how, concern, why), some in grouped(connections, "listener", "tls", "mechanism", "concern", "why").items():
        many = sum(one.get("connections", 1) for one in some)
        users, hosts, subjects = (
            len({one[name] for one in some if name in one}) for name in ("principal", "client_host", "tls_subject")
        )
        first, last = min(one["first"] for one in some), max(one["last"] for one in some)
        yield *how, many, users, hosts, subjects, first, last, concern, why


def _refused(event: Event) -> Event:
    return {**event, "first": since(event), "last": until(event), "concern": "ended before they were served"}


def _concern(tls: str | None, mechanism: str | None, has_certificate: bool) -> str | None:
    if tls is None:
        return "passwords can be read on the way" if mechanism == "PLAIN" else "data can be read on the way"
    if tls.split()[0] in ("TLSv1", "TLSv1.1") or tls.startswith("SSL"):
        return "an old version of TLS"
    return None if mechanism or has_certificate else "nobody proved who they are"
