"""Events as people read them: one line each. Names in it may have control characters, which the caller must escape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.audit.event_reading import JournalEvent
from plugins.audit.outcomes import is_on_trial

MOST = 5  # resources in a line


def shown(event: JournalEvent) -> str:
    """One line about an event: time, client, API, resources and result."""
    return "  ".join([event["time"], *filter(None, (_who(event), _what(event)))])


def _who(event: JournalEvent) -> str:
    client, port = event.get("client_host"), event.get("client_port")
    if client is None:
        return f"{event['instance']}-{event['worker']}"
    if port is not None:
        client = f"[{client}]:{port}" if ":" in client else f"{client}:{port}"
    return " ".join(filter(None, (event.get("principal"), client, event.get("client_id"))))


def _what(event: JournalEvent) -> str:
    if event["kind"] == "summary":
        about = f"{_some(event.get('requests') or 0, 'request')} of {_api(event)}"
        return "  ".join(filter(None, (about, _resources(event), ", ".join(event.get("errors") or ()))))
    if event["kind"] != "request":
        asked = (event.get("api"), event.get("operation"), event.get("resource_type"), event.get("resource_name"))
        lost = _some(event["lost"], "event") if event.get("lost") else None
        many = f"{event['connections']} connections" if (event.get("connections") or 1) > 1 else None
        claimed = f"as {event['claimed']}" if event.get("claimed") else None
        trial = "let through since the rules are only tried" if is_on_trial(event) else None
        facts = (" ".join(filter(None, asked)), claimed, event.get("why"), event.get("rule"), trial, lost, many)
        return ", ".join([event["kind"].replace("_", " "), *filter(None, facts)])
    about = _changes(event) or _resources(event)
    only = "only asked" if event.get("validate_only") else None
    return "  ".join(filter(None, (_api(event), only, about, _outcome(event))))


def _api(event: JournalEvent) -> str:
    return f"{event.get('api')} v{event.get('api_version')}"


def _resources(event: JournalEvent) -> str:
    resources = event.get("resources") or []
    told = [_resource(resource) for resource in resources[:MOST]]
    return "; ".join(told + ([f"and {len(resources) - MOST} more"] if len(resources) > MOST else []))


def _changes(event: JournalEvent) -> str:
    changes = event.get("changes") or []
    more = max(0, len(changes) - MOST) + (event.get("changes_left_out") or 0)
    return "; ".join([*map(_change, changes[:MOST]), *([f"and {more} more changes"] if more else [])])


def _change(change: dict[str, Any]) -> str:
    """What an administrator asked for, as `set user alice SCRAM-SHA-256`."""
    name, key = change.get("name"), change.get("key")
    if change.get("partition") is not None:  # of a group's offset its topic is the key
        where = f"-{change['partition']}"
        name, key = (name, f"{key}{where}") if change.get("type") == "group" else (f"{name}{where}", key)
    acl = "ACL" if change.get("permission") else None
    told = " ".join(filter(None, (change.get("change"), acl, change.get("type"), name, key, change.get("value"))))
    if change.get("permission"):
        whose = f"{change['permission']} {change.get('principal')} {change.get('operation')} from {change.get('host')}"
        told += f" ({change.get('pattern')}): {whose}"
    return ", ".join(filter(None, (told, change.get("error"))))


def _resource(resource: dict[str, Any]) -> str:
    name = resource.get("name") or resource.get("id") or "(no name)"
    where = "" if resource.get("partition") is None else f"-{resource['partition']}"
    return ", ".join([f"{resource.get('type')} {name}{where}", *_came_of(resource)])


def _came_of(resource: dict[str, Any]) -> Iterator[str]:
    if resource.get("records") is not None:
        yield _some(resource["records"], "record")
    first, last = resource.get("first_offset"), resource.get("last_offset")
    if first is not None:
        yield f"offset {first}" if first == last else f"offsets {first} to {last}"
    if resource.get("error"):
        yield resource["error"]


def _outcome(event: JournalEvent) -> str:
    took = (event.get("broker_us") or 0) + (event.get("proxy_us") or 0)
    outcome = event.get("outcome")
    outcome = f"answered by the {event.get('answered_by')}" if outcome == "answered" else str(outcome)
    facts = (", ".join(event.get("errors") or ()), event.get("why"), f"{took / 1000:.1f} ms")
    return ", ".join([outcome, *filter(None, facts)])


def _some(many: int, noun: str) -> str:
    return f"{many} {noun}" if many == 1 else f"{many} {noun}s"
