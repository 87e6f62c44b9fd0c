"""Events of requests: a request that ended gets an event of its own, is counted in a summary, or is not recorded.

Rules:
* The levels of its resources decide, and for the request the highest of them. Without a file of levels everything is
  recorded in full.
* Only plain requests (`ended.py`) without an administrator's changes are counted. With the policy `required` nothing is
  counted.
* An event names the rules that decided on its request (`party.py`). A request that other rules decided than those in
  force is no sample for later ones.
* The event of a large request is made by the writer's thread, and so is that of a request that gets no answer: the end
  of a connection can be the end of a thousand. Such a request is no sample for later ones.
"""

from __future__ import annotations

from functools import partial

from plugins.audit.ended import EndedRequest
from plugins.audit.events import RequestSubjects, request_fields, with_resources
from plugins.audit.levels import Level
from plugins.audit.party import KnownParty
from plugins.audit.queue import DeferredEvent, QueuedEvent
from plugins.audit.recorder import EventRecorder
from plugins.audit.request_schema import Resource
from plugins.audit.unread import UnreadRequests
from plugins.audit.windows import WindowKey, Windows
from proxy.plugin import By, Context, Outcome, Services
from rules.noted import noted_rules

LARGE = 500  # the weight, in plain events, above which an event takes milliseconds to make


class RequestEvents:
    """Makes the events of requests. `has_levels`: there is a file of levels. `may_count`: there may be summaries."""

    def __init__(
        self,
        services: Services,
        recorder: EventRecorder,
        windows: Windows,
        unread: UnreadRequests,
        has_levels: bool,
        may_count: bool,
    ) -> None:
        self._services = services
        self._recorder = recorder
        self._windows = windows
        self._unread = unread
        self._has_levels = has_levels
        self._may_count = may_count

    def record_bare(self, ctx: Context, outcome: Outcome, known: KnownParty, at: float) -> None:
        """Record a request without resources that ended at `at`, in seconds since 1970."""
        if not self._has_levels or known.levels(ctx.connection).level(ctx.api, ctx.version, at).level:
            fields = request_fields(ctx, outcome, None)
            self._recorder.put("request", ctx.connection, fields, at=at, rules=noted_rules(ctx))

    def ended(
        self, ctx: Context, outcome: Outcome, subjects: RequestSubjects, known: KnownParty, at: float
    ) -> EndedRequest:
        """A request that ends now, as it is to be recorded."""
        levels, rules = known.levels(ctx.connection) if self._has_levels else None, noted_rules(ctx)
        return EndedRequest(ctx, outcome, subjects, at, known, known.of(ctx.connection, rules), levels, rules)

    def record(self, one: EndedRequest) -> None:
        """Record a request that ended, perhaps some time ago."""
        subjects, at = one.subjects, one.at
        weight = 1 + subjects.weight + one.party.weight
        if weight > LARGE or (one.outcome.by is By.NOBODY and subjects.wants_answer):
            self._recorder.keep(DeferredEvent(at, weight, partial(self._event, one, weight)))
        elif (event := self._event(one, weight)) is not None:
            self._recorder.keep(event)
            self._unread.know_told(one)

    def _event(self, one: EndedRequest, weight: int) -> QueuedEvent | None:
        """The event of a request; None: it is counted, or not recorded."""
        ctx, outcome, subjects, at, known, party, levels, rules = one
        name_of, api, version = self._services.topics.get, ctx.api, ctx.version
        if levels is None:
            return self._told(one, subjects.resources(name_of, rules), weight)
        found = one.found(levels, name_of)
        level, window = max((one[0] for one in found), default=levels.level(api, version, at))
        if level is Level.NONE:
            return None
        may_count = self._may_count and level is Level.SUMMARY and one.is_plain(found)
        if may_count and not subjects.changes(name_of)[0]:
            key = WindowKey(known.number, party, api, version)
            moved = [(each.key, each.moved) for each in found if each.level.level is not Level.NONE]
            if self._windows.count(key, at, window, outcome, moved, lambda key: subjects.head(key, name_of, rules)):
                if weight <= LARGE:  # in the thread of the links
                    self._unread.know_counted(one, key, found)
                return None
        resources = [
            resource
            for resource in subjects.resources(name_of, rules)
            if levels.level(api, version, at, resource["type"], resource.get("name"), resource.get("partition")).level
        ]
        return self._told(one, resources, weight)

    def _told(self, one: EndedRequest, resources: list[Resource], weight: int) -> QueuedEvent:
        fields = request_fields(one.ctx, one.outcome, one.subjects)
        fields = with_resources(fields, resources, one.subjects, self._services.topics.get)
        return QueuedEvent("request", one.at, one.party, fields, weight)
