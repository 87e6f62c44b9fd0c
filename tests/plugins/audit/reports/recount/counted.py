"""Shared by recounts: plain Python over events of a journal. It shares no code with the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from plugins.audit.reports.report import AuditReport

Event = dict[str, Any]
Rows = Iterable[tuple[Any, ...]]


def about(events: Iterable[Event]) -> Iterator[tuple[Event, Event]]:
    """Each request with each of its resources. A summary's resource is split by outcome, with the number in `times`."""
    for event in events:
        for resource in event.get("resources") or ():
            if event["kind"] == "request":
                yield event, {**resource, "times": 1}
            elif event["kind"] == "summary":
                well = resource["requests"]
                for failure in resource.get("failures") or ():
                    well -= failure["requests"]
                    named = {name: resource[name] for name in ("type", "name", "id", "partition") if name in resource}
                    yield event, {**named, "error": failure["error"], "times": failure["requests"]}
                if well:
                    yield event, {**resource, "times": well}


def since(event: Event) -> str:
    return event.get("window_from") or event["time"]


def until(event: Event) -> str:
    return event.get("window_to") or event["time"]


def refused(resource: Event) -> bool:
    return (resource.get("error") or "").endswith("_AUTHORIZATION_FAILED")


def in_order(report: AuditReport, rows: Rows) -> list[tuple[Any, ...]]:
    """The rows in the report's declared order: sorted by the last column first. Null sorts before all values."""
    found = list(rows)
    for name, descending in reversed(report.sorting):
        place = report.names.index(name)
        empty = "" if report.columns[place].type in ("STRING", "TIMESTAMP", "DATE") else 0
        found.sort(key=lambda row: (row[place] is not None, row[place] or empty), reverse=descending)
    return found


def grouped(events: Iterable[Event], *names: str) -> dict[tuple[Any, ...], list[Event]]:
    """Events grouped by their values of these fields."""
    found: dict[tuple[Any, ...], list[Event]] = {}
    for event in events:
        found.setdefault(tuple(event.get(name) for name in names), []).append(event)
    return found


def seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def most_at_once(times: list[str]) -> int:
    """The greatest number within any five minutes."""
    moments = sorted(map(seconds, times))
    return max(sum(0 <= at - one <= 300 for one in moments) for at in moments)
