"""Audit: every request and every connection is an event in a journal on disk.

    - audit: {journal: /var/lib/doorkeeper/journal}

Rules:
* A request is told of once, when it has its answer or it is certain that it gets none.
* What is read of requests and answers is names, error codes and how many records there are (`resources.py`).
* Clients never wait for the journal: what it cannot take is counted, and told in the journal itself (`journal.py`).
* Where a client names a topic by an id that this worker has not met, the broker is asked for its name first: that
  request waits for the answer. Nothing else that a client does is changed or kept waiting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from plugins.audit.chain import Rotation
from plugins.audit.journal import Journal, JournalError
from plugins.audit.party import KnownParty
from plugins.audit.queue import PLAIN, text_bytes
from plugins.audit.resources import Subjects
from plugins.audit.schema import Ended, NotAllowed, Parted, Reason
from plugins.audit.shapes import wanted_fields
from proxy.plugin import (
    APIS,
    METADATA,
    Authenticated,
    By,
    Closed,
    Connected,
    Connection,
    Context,
    Denied,
    FilePath,
    Handler,
    Meaning,
    Message,
    MetadataResponse,
    Outcome,
    Plugin,
    PluginError,
    Refused,
    Request,
    Response,
    Services,
    Steps,
    Wish,
    carrying,
    on_event,
    on_outcome,
    turns,
)
from proxy.plugin.files import Seconds, Size

WRITTEN_EVERY = 0.05  # seconds
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
MOST_ASKED = 1_000  # ids of topics, of one connection
LONGEST_NAME = 32_767  # characters of a name that was denied: brokers take no longer ones


class Audit(Plugin):
    """Keeps the journal of one cluster in one worker."""

    class Options(Plugin.Options):
        """Where the journal lies, and how it is cut into segments."""

        journal: FilePath = Field(
            description="The folder of the journal, which is made. A path is relative to this file.",
            examples=["/var/lib/doorkeeper/journal"],
        )
        key: FilePath | None = Field(
            default=None,
            description="The PEM file with the Ed25519 key that signs the journal; it is made where there is none. "
            "Without it: the path of the journal, with `.key` behind it.",
        )
        segment: Size = Field(
            default=16 << 20,
            examples=["16 MiB"],
            description="Bytes on disk after which a segment of the journal is followed by another.",
        )
        sealed: Seconds = Field(
            default=900.0,
            examples=["15m"],
            description="How long a segment is written before it is sealed, if it is not full earlier.",
        )

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        folder = Path(options.journal)
        key = Path(options.key) if options.key else folder.with_name(f"{folder.name}.key")
        about = f"{services.instance} {services.cluster} {services.name} {services.clock.wall()!r}"
        instance = sha256(about.encode()).hexdigest()[:16]  # of this plugin's life: a chain is written once
        rotation = Rotation(options.segment, options.sealed)
        self._journal = Journal(folder, key, instance, services.worker, services.tell, rotation, services.clock.wall)
        self._connections = 0
        self._lost = services.counter("lost_events", "Events that the journal could not take.")
        services.every(WRITTEN_EVERY, self._journal.work)

    def start(self) -> None:
        try:
            self._journal.open()
        except JournalError as error:
            raise PluginError(str(error)) from None

    def stop(self) -> None:
        self._journal.close()

    # Connections.

    @on_event(Connected, Authenticated, Refused, Denied, Closed)
    def happened(self, connection: Connection, event: Connected | Authenticated | Refused | Denied | Closed) -> None:
        match event:
            case Connected():
                self._put("connection_opened", connection, {})
            case Authenticated():
                self._put("connection_authenticated", connection, {})
            case Refused():
                self._put("authentication_failed", connection, {"why": event.why})
            case Denied():
                fields = _denied(event)
                self._put("denied", connection, fields, 1 + text_bytes(fields["resource_name"]) // PLAIN)
            case Closed():
                self._put("connection_closed", connection, _parted(event))

    # Requests.

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        for api in APIS.values():
            if not api.inter_broker:
                for cls in (api.request, api.response):
                    if names := wanted_fields(cls):
                        side = Request if issubclass(cls, Request) else Response
                        yield Handler(self._read, Wish(side, cls, names, observes=True), position)

            if carrying(Meaning.TOPIC_ID).fields(api.request) and api is not METADATA:
                yield Handler(self._learn, Wish(Request, api.request, wanted_fields(api.request)), position)

    def _learn(self, ctx: Context, request: Request) -> Steps | None:
        """Ask for the names of topics, once for each id of a connection."""
        subjects: Subjects | None = ctx.notes.get(self.services.name)
        if subjects is None or not subjects.unnamed:  # None: it could not be observed, which was told
            return None
        asked = self._known(ctx.connection).asked
        unknown = self.services.topics.unknown(topic_id for topic_id, _ in subjects.unnamed)
        new = [topic_id for topic_id in turns(unknown) if topic_id not in asked][: MOST_ASKED - len(asked)]
        asked.update(new)
        return self._ask(ctx, new) if new else None

    def _ask(self, ctx: Context, ids: list[bytes]) -> Steps:
        try:
            yield from self.services.topics.ask(ids)
        except Exception as error:  # their ids are in the journal
            self.services.tell("names of topics not learnt", ctx.connection, level="warning", why=type(error).__name__)
        return None

    def _read(self, ctx: Context, message: Message) -> None:
        """A request as it came, or an answer as it leaves."""
        if isinstance(message, MetadataResponse):
            self.services.topics.learn(message.topics)
        subjects: Subjects | None = ctx.notes.get(self.services.name)
        if subjects is None:
            subjects = ctx.notes[self.services.name] = Subjects(ctx.api, ctx.version)
        subjects.read(message)

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        subjects: Subjects | None = ctx.notes.pop(self.services.name, None)
        fields = _ended(ctx, outcome, subjects)
        if subjects is not None:
            fields["resources"] = subjects.resources(self.services.topics.get)
        self._put("request", ctx.connection, fields, 1 if subjects is None else subjects.weight)

    def _put(self, kind: str, connection: Connection, fields: Said, weight: int = 1) -> None:
        party = self._known(connection).of(connection)
        if not self._journal.put(kind, self.services.clock.wall(), fields, party, weight):
            self._lost.add()

    def _known(self, connection: Connection) -> KnownParty:
        known: KnownParty | None = connection.notes.get(self.services.name)
        if known is None or known.journal is not self._journal:  # or it began under another configuration
            self._connections += 1
            known = connection.notes[self.services.name] = KnownParty(self._journal, self._connections)
        return known


class Said(Ended, NotAllowed, Parted, Reason, total=False):
    """All that an event of a request or a connection may say, beyond whose it is."""


def _denied(event: Denied) -> Said:
    fields: Said = {
        "api": event.api.name,
        "operation": event.operation,
        "resource_type": _INNER_CAPITAL.sub("_", event.resource).lower(),  # as resources have it
        "resource_name": event.name[:LONGEST_NAME],
        "why": event.why,
        "enforced": event.enforced,
    }
    if event.place:
        fields["rule"] = event.place
    return fields


def _parted(event: Closed) -> Said:
    fields: Said = {
        "lasted_us": round((event.ended - event.began) * 1e6),
        "bytes_from_client": event.from_client,
        "bytes_from_broker": event.from_broker,
    }
    if event.reason is not None:
        fields["why"] = event.reason
    return fields


def _ended(ctx: Context, outcome: Outcome, subjects: Subjects | None) -> Said:
    by, sent, answered = outcome.by, outcome.sent, outcome.answered
    fields: Said = {
        "api": ctx.api.name,
        "api_version": ctx.version,
        "correlation_id": ctx.correlation_id,
        "answered_by": by.value,
        "outcome": "answered",
        "request_bytes": outcome.request_bytes,
    }
    if by is By.NOBODY:
        fields["outcome"] = "none" if subjects is None or subjects.wants_answer else "unknown"
    else:
        fields["response_bytes"] = outcome.response_bytes
    if outcome.why is not None:
        fields["why"] = outcome.why
    if outcome.left is not None:
        broker = answered - sent if sent is not None and answered is not None else 0.0
        fields["broker_us"] = round(broker * 1e6)
        fields["proxy_us"] = round((outcome.left - outcome.came - broker) * 1e6)
    if outcome.decisions:
        fields["decisions"] = [{"handler": handler, "decision": decision} for handler, decision in outcome.decisions]
    if subjects is not None:
        if subjects.errors is not None:
            fields["errors"] = list(subjects.errors)
        if subjects.left_out:
            fields["resources_left_out"] = subjects.left_out
    return fields
