"""Session fast path: a Fetch of a session passes unread if it is like an earlier one that passed unchanged.

A consumer sends the same request with other offsets: reading one takes 20 us, recognising it takes 1. The meaning of a
request in a session depends on the requests before it. Requests without a session have `topics_fast_path.py`.

Rules:
* A frame is alike if it agrees with the earlier one in every byte but those of offsets and of the session epoch. It
  must be in its turn, and the session must have the same partitions as then.
* It passes only by the same edition of its client's authorizer. A request of which something was refused (in shadow
  too), or that opens a session, is no sample.
* All frames that are alike share the context of the first.
"""

from __future__ import annotations

from contextlib import suppress
from struct import Struct
from typing import NamedTuple

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.fetch import FetchHandlers
from proxy.plugin import Connection, Context, FetchRequest
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, Beginning, FastPath, Spans, spans_finder

HEAD = REQUEST_HEAD.size
MOST = 64  # lengths of requests that are remembered on one connection, and requests of each length
ROOM = 256 << 10  # bytes of requests that are remembered, without their offsets and the like
PIECES = 4  # about so many times as many bytes are taken: the bytes between two offsets are an object of their own
LONGEST = 64 << 10  # bytes of a request; its layout is found without slices
PATIENCE = 10_000  # requests that found no room, after which the memory is emptied
OFFSETS = (
    "current_leader_epoch",
    "fetch_offset",
    "last_fetched_epoch",
    "log_start_offset",
    "partition_max_bytes",
)
EPOCH = 4  # bytes


class FetchSample(NamedTuple):
    """A request that passed, and the edition of the rules that let it pass."""

    ctx: Context
    edition: object
    epoch_at: int  # the position of the session epoch


class FetchLayout:
    """The bytes that matter in requests of one length, and their values in the requests that passed."""

    __slots__ = ("letters", "said", "tried", "unpack")

    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.unpack = Struct(letters).unpack_from
        self.said: dict[tuple[bytes, ...], FetchSample] = {}
        self.tried = 0  # requests that were examined for this layout


class FetchSamples:
    """The samples of one connection."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[int, int], FetchLayout | None] = {}  # None: one request of this length came
        self._edition: object = None  # of the rules, by which the samples passed
        self._room = ROOM
        self._turned_away = 0

    @property
    def held(self) -> int:
        """Bytes that they take."""
        return PIECES * (ROOM - max(self._room, 0))

    def let_go(self) -> None:
        """Forget them: requests are read once more."""
        self._layouts.clear()
        self._room, self._turned_away = ROOM, 0

    def find(self, api: int, frame: memoryview) -> FetchSample | None:
        """The sample that this frame is like."""
        layout = self._layouts.get((api, len(frame)))
        return None if layout is None else layout.said.get(layout.unpack(frame, HEAD))

    def is_worth_keeping(self, api: int, length: int, edition: object) -> bool:
        """Whether it is not the first of its length, and there is room: finding a layout costs time."""
        if edition is not self._edition or self._turned_away == PATIENCE:
            self.let_go()
            self._edition = edition
        known = (api, length) in self._layouts
        if self._room <= 0 or (not known and len(self._layouts) == MOST):
            self._turned_away += 1
            return False
        layout = self._layouts.setdefault((api, length), None)
        return known and (layout is None or layout.tried < MOST)

    def keep_layout(self, api: int, frame: memoryview, varying: Spans, passed: FetchSample) -> None:
        """Keep a sample. Frames are like it that differ only in the bytes `varying`."""
        letters, at = ">", HEAD
        for start, stop in varying:
            letters += f"{start - at}s" * (start > at) + f"{stop - start}x"
            at = stop
        letters += f"{len(frame) - at}s"
        layout = self._layouts[api, len(frame)]
        if layout is None:
            layout = self._layouts[api, len(frame)] = FetchLayout(letters)
        layout.tried += 1
        if letters == layout.letters:
            said = layout.unpack(frame, HEAD)
            self._room -= sum(map(len, said))
            if self._room >= 0:
                layout.said[said] = passed


class SessionFastPath:
    """A FastPath for requests of sessions. `others` is asked about all other requests."""

    counts = True  # each request that passes advances the session's epoch

    def __init__(self, authorizer: Authorizer, fetching: FetchHandlers, others: FastPath) -> None:
        self._authorizer = authorizer
        self._fetch = fetching
        self._others = others

    @property
    def keys(self) -> frozenset[object]:
        """The keys under which the handlers note something."""
        return self._fetch.keys

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the earlier request that this one is like; None: it must be read."""
        samples: FetchSamples | None = connection.samples.get(self)
        if samples is None or len(frame) < length or (passed := samples.find(api, frame)) is None:
            return self._others.passes(connection, api, frame, length)
        authorizer: ClientAuthorizer = connection.notes[self._authorizer.name]
        if authorizer.current() is not passed.edition:
            samples.let_go()  # their notes keep rules in memory that were replaced
            return None
        epoch = int.from_bytes(frame[passed.epoch_at : passed.epoch_at + EPOCH], signed=True)
        return passed.ctx if self._fetch.repeats(passed.ctx, epoch) else None

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """Keep a request that was read and passed, if others like it may pass."""
        if not self._fetch.has_session(ctx):
            return self._others.learn(ctx, frame, body)
        if self._fetch.may_repeat(ctx):
            samples: FetchSamples = ctx.connection.samples.setdefault(self, FetchSamples())
            authorizer: ClientAuthorizer = ctx.connection.notes[self._authorizer.name]
            with suppress(*BAD_BYTES):  # the broker will refuse it
                self._keep(samples, ctx, frame, body, authorizer.edition)
        return None

    def _keep(self, samples: FetchSamples, ctx: Context, frame: memoryview, body: int, edition: object) -> None:
        """Keep a sample of a request, if that is worth while."""
        api = ctx.api.key << 16 | ctx.version
        if len(frame) <= LONGEST and samples.is_worth_keeping(api, len(frame), edition):
            epoch = spans_finder(FetchRequest, ctx.version, "session_epoch")(frame, body)[:-1]
            offsets = spans_finder(FetchRequest, ctx.version, *OFFSETS)(frame, body)[:-1]
            samples.keep_layout(api, frame, epoch + offsets, FetchSample(ctx.as_sample(), edition, epoch[0][0]))
