"""Profiles: events of a journal with the field names of other tools.

    ecs     Elastic Common Schema 8.11: one document an event
    ocsf    Open Cybersecurity Schema Framework 1.3.0: API Activity, Authentication, Network Activity

Rules:
* Everything that a profile has a field for is put there. The event as it is in the journal is under `doorkeeper` in
  ECS, under `unmapped` in OCSF: nothing is lost.
* `outcomes.py` says what came of an event.

Sources: https://www.elastic.co/guide/en/ecs/8.11, https://schema.ocsf.io/1.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from ipaddress import ip_address
from typing import Any

from plugins.audit.event_reading import JournalEvent
from plugins.audit.outcomes import is_on_trial, microseconds, outcome

Profile = dict[str, Any]
VENDOR, PRODUCT = "Doorkeeper", "Doorkeeper"
ECS, OCSF = "8.11.0", "1.3.0"

# ECS: the category and the type of a kind of events.
ECS_KINDS: dict[str, tuple[list[str], list[str]]] = {
    "connection_opened": (["network"], ["connection", "start"]),
    "connection_failed": (["network"], ["connection", "denied"]),
    "connection_closed": (["network"], ["connection", "end"]),
    "connection_authenticated": (["authentication"], ["start"]),
    "authentication_failed": (["authentication"], ["start"]),
    "denied": (["database"], ["access", "denied"]),
    "request": (["database"], ["access"]),
    "summary": (["database"], ["access"]),
}
OTHER = (["process"], ["info"])

# OCSF: the class, its category and the activity.
API_ACTIVITY, AUTHENTICATION, NETWORK_ACTIVITY = 6003, 3002, 4001
CREATE, READ, UPDATE, DELETE, UNKNOWN_ACTIVITY, OTHER_ACTIVITY = 1, 2, 3, 4, 0, 99
ACTIVITIES = {
    "Read": READ,
    "Describe": READ,
    "DescribeConfigs": READ,
    "Write": UPDATE,
    "Alter": UPDATE,
    "AlterConfigs": UPDATE,
    "Create": CREATE,
    "Delete": DELETE,
}
OCSF_KINDS = {
    "connection_opened": (NETWORK_ACTIVITY, 1),
    "connection_failed": (NETWORK_ACTIVITY, 4),  # Fail
    "connection_closed": (NETWORK_ACTIVITY, 2),
    "connection_authenticated": (AUTHENTICATION, 1),
    "authentication_failed": (AUTHENTICATION, 1),
}
INFORMATIONAL, MEDIUM = 1, 3


def ecs(event: JournalEvent) -> Profile:
    """An event as a document of ECS."""
    category, kinds = ECS_KINDS.get(event["kind"], OTHER)
    if event.get("changes"):
        category, kinds = ["configuration"], ["change"]
    if is_on_trial(event):
        kinds = ["access", "allowed"]
    host, port = event.get("client_host"), event.get("client_port")
    said: Profile = {
        "@timestamp": event["time"],
        "ecs": {"version": ECS},
        "event": _present(
            kind="event",
            category=category,
            type=kinds,
            module="doorkeeper",
            dataset="doorkeeper.audit",
            action=event.get("api") or event["kind"],
            outcome=outcome(event),
            reason=event.get("why"),
            sequence=event["sequence"],
            duration=microseconds(event, 1_000),
        ),
        "observer": {"vendor": VENDOR, "product": PRODUCT, "type": "proxy", "version": version("doorkeeper")},
        "network": {"transport": "tcp", "protocol": "kafka"},
        "user": _present(name=event.get("principal") or event.get("claimed")),
        "source": _present(address=host, ip=_ip(host), port=port),
        "user_agent": _present(original=event.get("client_software")),
        "tls": _present(**_tls(event.get("tls")), client=_present(subject=event.get("tls_subject"))),
        "rule": _present(name=event.get("rule")),
        "error": _present(code=next(iter(event.get("errors") or ()), None)),
        "doorkeeper": event,
    }
    return {name: value for name, value in said.items() if value}


def ocsf(event: JournalEvent) -> Profile:
    """An event as one of OCSF."""
    kind = event["kind"]
    class_uid, activity = OCSF_KINDS.get(kind, (API_ACTIVITY, _activity(event)))
    came = outcome(event)
    failed = came == "failure"
    source = _present(ip=_ip(event.get("client_host")), port=event.get("client_port"), name=event.get("client_id"))
    said: Profile = {
        "metadata": {
            "version": OCSF,
            "product": {"name": PRODUCT, "vendor_name": VENDOR, "version": version("doorkeeper")},
            "uid": f"{event['instance']}-{event['worker']}-{event['sequence']}",
            "sequence": event["sequence"],
            "original_time": event["time"],
        },
        "category_uid": class_uid // 1000,
        "class_uid": class_uid,
        "activity_id": activity,
        "type_uid": class_uid * 100 + activity,
        "time": round(datetime.fromisoformat(event["time"]).astimezone(UTC).timestamp() * 1000),
        "severity_id": MEDIUM if failed else INFORMATIONAL,
        "status_id": {"success": 1, "failure": 2}.get(came, 0),
        "status_detail": event.get("why"),
        "duration": microseconds(event, 0.001),
        "src_endpoint": source or {"name": event["instance"]},  # for events about the journal itself
        "unmapped": event,
    }
    who = event.get("principal") or event.get("claimed")
    user = {"name": who or "unknown", "type_id": 1 if who else 0}
    if class_uid == API_ACTIVITY:
        said["actor"] = {"user": user}
        said["api"] = _present(
            operation=event.get("api") or kind,
            version=None if event.get("api_version") is None else str(event["api_version"]),
            service={"name": "kafka"},
            response=_present(error=next(iter(event.get("errors") or ()), None), message=event.get("why")),
        )
        said["resources"] = [
            _present(type=one.get("type"), name=one.get("name"), uid=one.get("id")) for one in _resources(event)
        ]
    elif class_uid == AUTHENTICATION:
        said["user"] = user
        said["auth_protocol_id"], said["auth_protocol"] = OTHER_ACTIVITY, event.get("mechanism") or "SASL"
    else:
        said["connection_info"] = {"protocol_name": "tcp", "direction_id": 1}
        said["dst_endpoint"] = _present(name=event.get("cluster"), instance_uid=event.get("listener"))
    return {name: value for name, value in said.items() if value not in (None, {}, [])}


PROFILES: dict[str, Callable[[JournalEvent], Profile]] = {"ecs": ecs, "ocsf": ocsf}


def _ip(host: str | None) -> str | None:
    """An address; None for a redacted one."""
    try:
        return None if host is None else str(ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def _tls(said: str | None) -> Profile:
    """The cipher and the version of ECS, of a text as `TLSv1.3 TLS_AES_256_GCM_SHA384`."""
    version, _, cipher = (said or "").partition(" ")
    protocol, _, number = version.partition("v")
    return {"cipher": cipher, "version": number, "version_protocol": protocol.lower()}


def _resources(event: JournalEvent) -> list[JournalEvent]:
    """The resources that the event is about; that of a denial has fields of its own."""
    if event.get("resource_type") is not None:
        return [{"type": event["resource_type"], "name": event.get("resource_name")}]
    return event.get("resources") or []


def _activity(event: JournalEvent) -> int:
    if event["kind"] not in ("request", "summary", "denied"):
        return OTHER_ACTIVITY
    operations = [event.get("operation"), *(one.get("operation") for one in event.get("resources") or ())]
    return next((ACTIVITIES[one] for one in operations if one in ACTIVITIES), UNKNOWN_ACTIVITY)


def _present(**fields: Any) -> Profile:
    return {name: value for name, value in fields.items() if value not in (None, {}, "")}
