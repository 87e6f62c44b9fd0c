"""Unread: learns from a request that was read which later ones need not be (`counted.py` recognises those).

Rules:
* The partitions of a request that was read become known, for requests of the same client, API and version. A request
  with any other partition is read.
* Requests that are counted have the tally of an open window. For requests that are recorded in full, the first bytes
  of each topic's fields are kept: they are the same in all events.
* Nothing is learned from a request if other rules than those in force decided on it: it has another party.
* Nothing is learned for full events from a request with an error, or one that a plugin decided. If a level depends on
  the time, nothing is learned at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from plugins.audit.counted import CountedTraffic, counted_traffic
from plugins.audit.ended import EndedRequest, FoundResource
from plugins.audit.levels import LONGEST_REMEMBERED, Level
from plugins.audit.party import OpenTally
from plugins.audit.recorder import EventRecorder
from plugins.audit.told import head
from plugins.audit.traffic import TrafficSubjects
from plugins.audit.windows import WindowKey, Windows
from proxy.plugin import Api, By, Services


class UnreadRequests:
    """Learns which requests need not be read."""

    def __init__(self, services: Services, recorder: EventRecorder, windows: Windows) -> None:
        self._services = services
        self._recorder = recorder
        self._windows = windows
        self._counted: dict[tuple[Api, int], CountedTraffic] = {}

    def counting(self, api: Api, version: int) -> CountedTraffic | None:
        """The counting of requests of this API in this version; None: they are all read."""
        recorder, wall = self._recorder, self._services.clock.wall
        counted = counted_traffic(api, version, recorder.tell, self._services.name, recorder.known, wall)
        if counted is not None:
            self._counted[api, version] = counted
        return counted

    def know_counted(self, one: EndedRequest, key: WindowKey, found: Sequence[FoundResource]) -> None:
        """Learn from a counted request: later ones with these resources alone are counted unread in its window."""
        counted = self._counted.get((key.api, key.version))
        if counted is None or one.known.levels(one.ctx.connection).is_timed or not one.known.is_in_force(one.rules):
            return
        names = [each.key for each in found if each.level.level is not Level.NONE]
        tally = self._windows.tally(key, counted.layouts.tally, names)
        if tally is None:
            return
        one.known.tallies[counted.key] = OpenTally(tally)
        if not found:
            tally.know_none()
        for level, (kind, topic, index), name, _ in found:
            if kind == "topic" and level.level is Level.SUMMARY and name is not None and index is not None:
                tally.know(topic.encode() if isinstance(topic, str) else topic, index)

    def know_told(self, one: EndedRequest) -> None:
        """Learn from a request recorded in full: later ones with its resources alone need not be read."""
        ctx, outcome, subjects, known = one.ctx, one.outcome, one.subjects, one.known
        counted = self._counted.get((ctx.api, ctx.version))
        if counted is None or not isinstance(subjects, TrafficSubjects) or outcome.decisions:
            return
        levels = known.levels(ctx.connection)
        if outcome.by is not By.BROKER or subjects.errors or levels.is_timed or not known.is_in_force(one.rules):
            return
        found, name_of = None, self._services.topics.get
        for topic, index in subjects.partitions:
            name = topic if isinstance(topic, str) else name_of(topic)
            if name is None or index is None or len(name) > LONGEST_REMEMBERED:
                continue
            if levels.level(ctx.api, ctx.version, one.at, "topic", name, index).level is Level.FULL:
                found = found or known.told(ctx.api, ctx.version, counted.layouts.tally)
                if found is None or found.told is None:
                    return
                said, told = topic.encode() if isinstance(topic, str) else topic, found.told
                begins = told.topics.get(said) or head(subjects.head(("topic", topic, None), name_of, one.rules))
                if begins is not None:
                    told.know(found.tally.know(said, index), said, begins)
