"""Request notes: the subjects of a request are noted until it has ended, and recorded then, once.

Rules:
* They are in the notes of the request's context, under the name of the plugin.
* With the policy `required` the event is made before the answer leaves, and not again at the end.
* If the name of a topic is asked for, the event waits for it, except with `required`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plugins.audit.events import RequestSubjects
from plugins.audit.recorder import EventRecorder
from plugins.audit.request_events import RequestEvents
from plugins.audit.resources import Subjects
from plugins.audit.shapes import wanted_fields
from plugins.audit.traffic import TRAFFIC, TrafficSubjects
from proxy.plugin import APIS, Context, Handler, Message, Outcome, Request, Response, Services, Wish


class EventMade:
    """The note on a request whose event is made already."""


EVENT_MADE = EventMade()


class RequestNotes:
    """Notes the requests of one plugin. `may_wait`: events may wait for the names of topics."""

    def __init__(self, services: Services, recorder: EventRecorder, requests: RequestEvents, *, may_wait: bool) -> None:
        self._key, self._clock = services.name, services.clock
        self._recorder, self._requests, self._may_wait = recorder, requests, may_wait

    def handlers(self, position: int) -> Iterator[Handler]:
        """The observers of all messages that name resources."""
        for api in APIS.values():
            for cls in () if api.inter_broker else (api.request, api.response):
                if names := TRAFFIC.get(cls) or wanted_fields(cls):
                    side = Request if issubclass(cls, Request) else Response
                    yield Handler(self.read, Wish(side, cls, names, observes=True), position)

    def read(self, ctx: Context, message: Message) -> None:
        """Note the subjects of a request as it came, or of an answer as it leaves."""
        subjects: RequestSubjects | None = ctx.notes.get(self._key)
        if subjects is None:
            kind = TrafficSubjects if type(message) in TRAFFIC else Subjects
            subjects = ctx.notes[self._key] = kind(ctx.api, ctx.version)
        subjects.read(message)
        if subjects.by_id:
            self._recorder.known(ctx.connection).learner.learn(ctx.connection, subjects.ids)

    def tell_early(self, ctx: Context, outcome: Outcome) -> bool:
        """Record the request of an answer that is about to leave. False: it was recorded already."""
        if ctx.notes.get(self._key) is EVENT_MADE:
            return False
        self.ended(ctx, outcome._replace(left=self._clock.now))
        ctx.notes[self._key] = EVENT_MADE
        return True

    def ended(self, ctx: Context, outcome: Outcome) -> None:
        """Record a request that has its answer, or gets none."""
        subjects: RequestSubjects | EventMade | None = ctx.notes.pop(self._key, None)
        if isinstance(subjects, EventMade):
            return
        known, at = self._recorder.known(ctx.connection), self._clock.wall()
        if subjects is None:
            self._requests.record_bare(ctx, outcome, known, at)
            return
        one = self._requests.ended(ctx, outcome, subjects, known, at)
        if self._may_wait and subjects.by_id and known.learner.learn(ctx.connection, subjects.ids):
            known.learner.when_known(partial(self._requests.record, one), subjects.weight)
        else:
            self._requests.record(one)
