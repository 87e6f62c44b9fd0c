"""Outcomes: whether an event is a success for the client, and how long it took.

Rules:
* A refusal is a failure, also where a broker refused.
* A denial by rules that are only tried is a success: the request was let through.
"""

from __future__ import annotations

from plugins.audit.event_reading import JournalEvent

FAILURES = ("authentication_failed", "connection_failed", "denied", "events_lost", "events_unsent")


def is_on_trial(event: JournalEvent) -> bool:
    """Whether it is a denial by rules that are only tried."""
    return event["kind"] == "denied" and event.get("enforced") is False


def outcome(event: JournalEvent) -> str:
    """Success, failure or unknown."""
    kind = event["kind"]
    if is_on_trial(event):
        return "success"
    if kind in FAILURES or event.get("errors"):
        return "failure"
    if kind == "request" and event.get("outcome") != "answered":
        return "unknown" if event.get("outcome") == "unknown" else "failure"
    return "success"


def microseconds(event: JournalEvent, times: float) -> int | None:
    """The duration of an event, in another unit."""
    if event.get("lasted_us") is not None:
        return int(event["lasted_us"] * times)
    if event["kind"] != "request" or event.get("broker_us") is None:
        return None
    return int((event["broker_us"] + (event.get("proxy_us") or 0)) * times)
