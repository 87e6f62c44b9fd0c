"""Audit: every request and every connection is recorded in a journal on disk.

    - audit: {journal: /var/lib/doorkeeper/journal}

Rules:
* A request is recorded once, when it has its answer or will certainly get none. It has an event of its own, or is
  counted in a summary where the file of levels says so (`request_events.py`, `levels.py`, `windows.py`). Some requests
  need not be read for that (`unread.py`).
* Of requests and answers only names, error codes, numbers of records and administrators' changes are read
  (`resources.py`, `traffic.py`, `changes.py`).
* Policy `best_effort`: clients never wait for the journal. Events that it cannot take are lost; their number is
  recorded in the journal itself (`journal.py`). A journal whose disk refuses to begin it begins later.
* Policy `required`: no answer leaves before its event is on disk. The event describes the answer as it was when it was
  ready to leave. If the journal cannot be written for a while, or has no room for the event, the connection ends
  without the answer. While the journal cannot be written, new connections are refused.
* If a topic is named, events that are on disk are sent to it too (`sink.py`). Neither clients nor the journal wait for
  that, whatever the policy.
* Each instance of the plugin has its own knowledge of a connection. A request that began under an earlier configuration
  is recorded by that configuration's instance, in its own chain. Events that wait when an instance stops are recorded
  then.
* Where a client names a topic by an id that this worker does not know, the broker is asked for its name
  (`learning.py`). No other request of a client is changed or delayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

from plugins.audit.chain import no_copy
from plugins.audit.connection_events import ConnectionEvent, record_connection
from plugins.audit.journal import Journal, JournalError
from plugins.audit.levels import FORM, LevelsFile
from plugins.audit.not_served import NotServedWindows
from plugins.audit.options import AuditOptions
from plugins.audit.queue import QueuedEvent
from plugins.audit.recorder import LOST, EventRecorder
from plugins.audit.redacted import redactor
from plugins.audit.request_events import RequestEvents
from plugins.audit.request_notes import RequestNotes
from plugins.audit.rotation import Rotation
from plugins.audit.sink import topic_sink
from plugins.audit.unread import UnreadRequests
from plugins.audit.waiting import WaitingAnswers
from plugins.audit.windows import Windows
from proxy.plugin import (
    Api,
    Arrival,
    Authenticated,
    Closed,
    Connected,
    Connection,
    Context,
    Decision,
    Denied,
    Disconnect,
    Finding,
    Handler,
    Holder,
    NotServed,
    Outcome,
    Plugin,
    PluginError,
    Problem,
    Refused,
    RequestCounting,
    Services,
    Steps,
    on_event,
    on_outcome,
)

WRITTEN_EVERY = 0.05  # seconds
SOON = 0.0001  # seconds between two runs of the writer where answers wait for it
REFUSED = "the audit journal cannot be written"
NO_ROOM = "the audit journal has no room for the event, without which nothing is answered"


class Audit(Plugin):
    """Keeps the journal of one cluster in one worker."""

    class Options(AuditOptions):
        """Where the journal lies, and how it is cut into segments."""

    @staticmethod
    def examine(options: AuditOptions) -> Iterator[Finding | Problem]:
        """Everything that is wrong with the place of the journal, with its keys, and with the file of levels."""
        yield from options.problems()

    @staticmethod
    def clusters(options: AuditOptions) -> Iterator[tuple[tuple[str, ...], str]]:
        """The cluster of the topic, where one is named."""
        if options.topic is not None and options.topic.cluster is not None:
            yield ("topic", "cluster"), options.topic.cluster

    def __init__(self, options: AuditOptions, services: Services) -> None:
        super().__init__(options, services)
        clock = services.clock
        about = f"{services.instance} {services.cluster} {services.name} {clock.wall()!r}"
        instance = sha256(about.encode()).hexdigest()[:16]  # unique to this instance: a chain has one writer
        self._levels = None if options.levels is None else services.watch("levels", options.levels, FORM.load)
        self._windows = Windows()
        self._not_served = NotServedWindows()
        self._sink = sink = topic_sink(options.topic, services, instance)
        self._journal = Journal(
            Path(options.journal),
            options.key_path,
            instance,
            services.worker,
            services.tell,
            clock,
            Rotation(options.segment, options.sealed),
            due=self._due,
            window=lambda: max(self._file.longest_window, self._not_served.window),
            copy=sink.offer if sink else no_copy,
            unwritten=services.counter("lost_events", LOST, why="not writable").add,
            refused=services.counter("refused_writes", "Writes of the journal that the disk refused.").add,
        )
        self._is_required = options.policy == "required"
        self._answers = WaitingAnswers(self._journal, clock, options.patience)
        self._recorder = recorder = EventRecorder(self._journal, services, self._levels)
        self._unread = UnreadRequests(services, recorder, self._windows)
        has_levels, may_count = self._levels is not None, not self._is_required
        requests = RequestEvents(services, recorder, self._windows, self._unread, has_levels, may_count)
        self._notes = RequestNotes(services, recorder, requests, may_wait=not self._is_required)
        if self._is_required:
            services.every(SOON, partial(self._journal.work_when_wanted, WRITTEN_EVERY))
        else:
            services.every(WRITTEN_EVERY, self._journal.work)
        if sink is not None:
            services.every(WRITTEN_EVERY, sink.work)

    def _due(self, now: float) -> Iterator[QueuedEvent]:
        """The summaries and other events that are due now."""
        yield from self._windows.due(now, self._file.longest_window)
        yield from self._not_served.due(now)
        if self._sink is not None:
            yield from self._sink.unsent(now)

    @property
    def _file(self) -> LevelsFile:
        return LevelsFile() if self._levels is None else self._levels.value

    @property
    def held(self) -> int:
        """Bytes of the data from which events are still to be made."""
        return self._journal.held

    def start(self) -> None:
        try:
            redact = partial(redactor, self.options.redact, self.options.pseudonyms_path)
            self._journal.open(redact, may_wait=not self._is_required)
        except JournalError as error:
            raise PluginError(str(error)) from None

    def stop(self) -> None:
        self._recorder.forget_all()
        self._journal.close()
        if self._sink is not None:
            self._sink.close()

    # Connections.

    @on_event(Connected, Authenticated, Refused, Denied, Closed)
    def happened(self, connection: Connection, event: ConnectionEvent) -> None:
        record_connection(self._recorder, self._windows, connection, event)

    def accepted(self, arrival: Arrival) -> Decision:
        """Refuse a connection that could not be recorded, with the policy `required`."""
        return Disconnect(REFUSED) if self._is_required and self._journal.is_refused else None

    def not_served(self, ended: NotServed) -> None:
        """Record a connection that was never served. It has no connection number."""
        if (event := self._not_served.count(ended, self.services.clock.wall())) is not None:
            self._recorder.keep(event)

    # Requests.

    def holders(self, api: Api) -> Iterable[Holder]:
        return [self.before] if self._is_required else []

    def before(self, ctx: Context, outcome: Outcome) -> Steps:
        """Hold an answer that is about to leave until its event is on disk."""
        lost = self._journal.lost
        if self._notes.tell_early(ctx, outcome) and self._journal.lost != lost:
            raise JournalError(NO_ROOM)
        yield from self._answers.until_on_disk(self._journal.events)
        return None

    def counting(self, api: Api, version: int) -> RequestCounting | None:
        return None if self._is_required else self._unread.counting(api, version)

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        return self._notes.handlers(position)

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self._notes.ended(ctx, outcome)
