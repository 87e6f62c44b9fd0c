"""How connections were protected."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, grouped


def rows(events: list[Event], inputs: Inputs) -> Rows:
    about = ("connection_", "authentication_")
    told = (event for event in events if event["kind"].startswith(about) and "connection" in event)
    connections = []
    for some in grouped(told, "instance", "worker", "connection").values():
        known = {name: value for event in some for name, value in event.items()}
        concern = _concern(known.get("tls"), known.get("mechanism"), "tls_subject" in known)
        connections.append({**known, "begun": min(event["time"] for event in some), "concern": concern})
    for (*how, concern), some in grouped(connections, "listener", "tls", "mechanism", "concern").items():
        users, hosts, subjects = (
            len({one[name] for one in some if name in one}) for name in ("principal", "client_host", "tls_subject")
        )
        begun = [one["begun"] for one in some]
        yield *how, len(some), users, hosts, subjects, min(begun), max(begun), concern


def _concern(tls: str | None, mechanism: str | None, has_certificate: bool) -> str | None:
    if tls is None:
        return "passwords can be read on the way" if mechanism == "PLAIN" else "data can be read on the way"
    if tls.split()[0] in ("TLSv1", "TLSv1.1") or tls.startswith("SSL"):
        return "an old version of TLS"
    return None if mechanism or has_certificate else "nobody proved who he is"
