"""Repeated requests: what is like a request that passed as it came passes too, without being read.

A producer sends the same request with other records, a consumer with other offsets: reading one takes 20 us, knowing it
takes 1.

# Alike is a frame that agrees with the earlier one in every byte but those of records and offsets; a Produce request
# for one topic, one that agrees up to the name of that topic: what follows can name no other.
# It passes by the same edition of the client's rights only. Nothing of which anything was refused (in shadow too), or
# that opens a session, is repeated, and nothing without an answer (acks 0).
# All that are alike share the context of the first.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from plugins.acl.fetch import NEW, Fetching
from plugins.acl.law import Law, Rights
from plugins.acl.names import Names
from plugins.acl.produce import Producing
from plugins.acl.skimmed import Skimmed
from proxy.core.context import Connection, Context
from proxy.protocol.codec import BAD_BYTES, Spans, spans_finder
from proxy.protocol.frame import REQUEST_HEAD
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.produce import ProduceRequest

HEAD = REQUEST_HEAD.size
MOST = 64  # lengths of requests that are remembered on one connection, requests of each; and beginnings
ROOM = 256 << 10  # bytes, without records and the like, of requests that are remembered by length
PATIENCE = 10_000  # requests that found no room, until all is learnt anew
ENDS = 8  # lengths of beginnings that are tried
OFFSETS = (
    "current_leader_epoch",
    "fetch_offset",
    "last_fetched_epoch",
    "log_start_offset",
    "partition_max_bytes",
)
EPOCH = 4  # bytes


class Passed(NamedTuple):
    """A request that passed, and the rights by which it did."""

    ctx: Context
    edition: object
    epoch_at: int = 0  # where a request says how often its session was used, if it has one


class Layout:
    """How requests of one length are laid out, but for what does not matter, and what those said that passed."""

    __slots__ = ("letters", "said", "tried", "unpack")

    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.unpack = Struct(letters).unpack_from
        self.said: dict[tuple[bytes, ...], Passed] = {}
        self.tried = 0  # requests that were looked at for this


class Remembered:
    """What passed on one connection."""

    def __init__(self) -> None:
        self._ends: list[tuple[int, int]] = []  # by api: how far beginnings go
        self._starts: dict[tuple[int, bytes], Passed] = {}
        self._layouts: dict[tuple[int, int], Layout | None] = {}  # None: one of this length came
        self._edition: object = None  # of the rights by which those passed
        self._room = ROOM
        self._turned_away = 0
        self.skimmed: dict[int, Skimmed] = {}  # by api

    def find(self, api: int, frame: memoryview, length: int) -> Passed | None:
        """The one that this frame is like."""
        for of, end in self._ends:
            if of == api and (passed := self._starts.get((api, bytes(frame[HEAD:end])))) is not None:
                return passed
        layout = self._layouts.get((api, length))
        if layout is None or len(frame) < length:
            return None
        return layout.said.get(layout.unpack(frame, HEAD))

    def keep_start(self, api: int, frame: memoryview, end: int, passed: Passed) -> None:
        """Know what begins like this."""
        if (api, end) not in self._ends:
            if len(self._ends) == ENDS:
                self._ends.clear()
                self._starts.clear()
            self._ends.append((api, end))
        if len(self._starts) == MOST:
            self._starts.clear()
        self._starts[api, bytes(frame[HEAD:end])] = passed

    def is_worth_keeping(self, api: int, length: int, edition: object) -> bool:
        """Is it not the first of its length, and is there room? Finding out how it is laid out takes its time."""
        if edition is not self._edition or self._turned_away == PATIENCE:
            self._layouts.clear()
            self._edition, self._room, self._turned_away = edition, ROOM, 0
        known = (api, length) in self._layouts
        if self._room <= 0 or (not known and len(self._layouts) == MOST):
            self._turned_away += 1
            return False
        layout = self._layouts.setdefault((api, length), None)
        return known and (layout is None or layout.tried < MOST)

    def keep_layout(self, api: int, frame: memoryview, varying: Spans, passed: Passed) -> None:
        """Know what is like this but for these bytes."""
        letters, at = ">", HEAD
        for start, stop in varying:
            letters += f"{start - at}s" * (start > at) + f"{stop - start}x"
            at = stop
        letters += f"{len(frame) - at}s"
        layout = self._layouts[api, len(frame)]
        if layout is None:
            layout = self._layouts[api, len(frame)] = Layout(letters)
        layout.tried += 1
        if letters == layout.letters:
            said = layout.unpack(frame, HEAD)
            self._room -= sum(map(len, said))
            if self._room >= 0:
                layout.said[said] = passed


class Repeated:
    """What passed on each connection: a Glance."""

    def __init__(self, law: Law, names: Names) -> None:
        self._law = law
        self._names = names

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the earlier request that this one is like."""
        remembered: Remembered | None = connection.notes.get(self)
        passed = None if remembered is None else remembered.find(api, frame, length)
        if passed is None:
            if remembered is None or len(frame) < length:
                return None
            return self._skim(remembered, connection.notes[self._law], api, frame)
        granted: Rights = connection.notes[self._law]
        return passed.ctx if granted.current() is passed.edition and self.still_holds(passed, frame) else None

    def _skim(self, remembered: Remembered, granted: Rights, api: int, frame: memoryview) -> Context | None:
        """The context of an earlier request that begins like this one, if all topics of this one may be used."""
        skimmed = remembered.skimmed.get(api)
        if skimmed is None or granted.current() is not skimmed.edition:
            return None
        try:
            if not skimmed.passes(frame, granted):
                return None
        except BAD_BYTES:
            return None  # whoever reads it says what is wrong
        if remembered.is_worth_keeping(api, len(frame), skimmed.edition):
            passed = Passed(skimmed.ctx, skimmed.edition)
            remembered.keep_layout(api, frame, self.varying(skimmed.ctx, frame, skimmed.body), passed)
        return skimmed.ctx

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """This one was read, and passes."""
        if not self.may_repeat(ctx):
            return
        remembered: Remembered = ctx.connection.notes.setdefault(self, Remembered())
        granted: Rights = ctx.connection.notes[self._law]
        try:
            self.keep(remembered, ctx, frame, body, Passed(ctx, granted.edition))
            if self.may_skim(ctx):
                api = ctx.api.key << 16 | ctx.version
                remembered.skimmed[api] = Skimmed(ctx, granted.edition, frame, body, self._names)
        except BAD_BYTES:
            return  # its broker will say what is wrong with it

    def may_repeat(self, ctx: Context) -> bool:
        """Was all of it allowed, whatever is in its records?"""
        raise NotImplementedError

    def still_holds(self, passed: Passed, frame: memoryview) -> bool:
        """Does what the earlier request passed by still hold?"""
        return True

    def may_skim(self, ctx: Context) -> bool:
        """Do only the names of its topics matter?"""
        return True

    def keep(self, remembered: Remembered, ctx: Context, frame: memoryview, body: int, passed: Passed) -> None:
        """Remember what matters of a request."""
        api = ctx.api.key << 16 | ctx.version
        if remembered.is_worth_keeping(api, len(frame), passed.edition):
            remembered.keep_layout(api, frame, self.varying(ctx, frame, body), passed)

    def varying(self, ctx: Context, frame: memoryview, body: int) -> Spans:
        """The bytes that do not matter."""
        raise NotImplementedError


class RepeatedProduce(Repeated):
    """Records do not matter."""

    def __init__(self, law: Law, names: Names, producing: Producing) -> None:
        super().__init__(law, names)
        self._producing = producing

    def may_repeat(self, ctx: Context) -> bool:
        return self._producing.may_repeat(ctx)

    def keep(self, remembered: Remembered, ctx: Context, frame: memoryview, body: int, passed: Passed) -> None:
        topics = spans_finder(ProduceRequest, ctx.version, "name", "topic_id")(frame, body)[:-1]
        if len(topics) == 1:
            remembered.keep_start(ctx.api.key << 16 | ctx.version, frame, topics[0][1], passed)
        else:
            super().keep(remembered, ctx, frame, body, passed)

    def varying(self, ctx: Context, frame: memoryview, body: int) -> Spans:
        return spans_finder(ProduceRequest, ctx.version, "records")(frame, body)[:-1]


class RepeatedFetch(Repeated):
    """Offsets do not matter, nor how often a session was used."""

    def __init__(self, law: Law, names: Names, fetching: Fetching) -> None:
        super().__init__(law, names)
        self._fetching = fetching

    def may_repeat(self, ctx: Context) -> bool:
        return self._fetching.may_repeat(ctx)

    def may_skim(self, ctx: Context) -> bool:
        return not self._fetching.has_session(ctx)

    def still_holds(self, passed: Passed, frame: memoryview) -> bool:
        at = passed.epoch_at
        if at and int.from_bytes(frame[at : at + EPOCH], signed=True) <= NEW:
            return False  # it opens a session, or closes one
        return self._fetching.repeats(passed.ctx)

    def keep(self, remembered: Remembered, ctx: Context, frame: memoryview, body: int, passed: Passed) -> None:
        if self._fetching.has_session(ctx):
            passed = passed._replace(epoch_at=self._epoch(ctx, frame, body)[0][0])
        super().keep(remembered, ctx, frame, body, passed)

    def varying(self, ctx: Context, frame: memoryview, body: int) -> Spans:
        offsets = spans_finder(FetchRequest, ctx.version, *OFFSETS)(frame, body)[:-1]
        return self._epoch(ctx, frame, body) + offsets if self._fetching.has_session(ctx) else offsets

    def _epoch(self, ctx: Context, frame: memoryview, body: int) -> Spans:
        return spans_finder(FetchRequest, ctx.version, "session_epoch")(frame, body)[:-1]
