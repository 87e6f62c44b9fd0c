"""Logins that failed, in series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, grouped, most_at_once, seconds


def rows(events: list[Event], inputs: Inputs) -> Rows:
    logins = [event for event in events if event["kind"] in ("authentication_failed", "connection_authenticated")]
    for (host,), some in grouped(logins, "client_host").items():
        some.sort(key=lambda event: (event["time"], event["instance"], event["worker"], event["sequence"]))
        for failures, got_in in _series(some):
            times = [event["time"] for event in failures]
            claimed = {event["claimed"] for event in failures if "claimed" in event}
            yield (
                host,
                times[0],
                times[-1],
                len(times),
                most_at_once(times),
                len(claimed),
                min(claimed, default=None),
                min(event["mechanism"] for event in failures),
                min(event["why"] for event in failures),
                got_in,
            )


def _series(logins: Iterable[Event]) -> Iterator[tuple[list[Event], int]]:
    failures: list[Event] = []
    got_in = 0
    for event in logins:
        is_near = bool(failures) and seconds(event["time"]) - seconds(failures[-1]["time"]) < 900
        if event["kind"] == "connection_authenticated":
            got_in += is_near
            continue
        if failures and not is_near:
            yield failures, got_in
            failures, got_in = [], 0
        failures.append(event)
    if failures:
        yield failures, got_in
