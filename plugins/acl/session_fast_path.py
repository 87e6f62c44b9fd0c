"""Session fast path: a Fetch of a session passes unread if it is like an earlier one that passed unchanged.

A consumer sends the same request with other offsets: reading one takes 20 us, recognising it takes 1. The meaning of a
request in a session depends on the requests before it. Requests without a session have `topics_fast_path.py`.

Rules:
* A frame is alike if it agrees with the earlier one in every byte but those of offsets and of the session epoch. It
  must be in its turn, and the session must have the same partitions as then.
* It passes only by the same edition of its client's authorizer. A request of which something was refused (in shadow
  too), or that opens a session, is no sample.
* A short frame that is like the last one that was read need not even be looked for among the others (`Certain`).
* All frames that are alike share the context of the first. A connection may have several sessions: the beginning that
  the link knows is of one of them, and lets requests of no other pass, whose answers would be taken for answers to it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.fetch import FetchHandlers
from plugins.acl.sessions import AuthorizedSession
from plugins.acl.topics_fast_path import OFFSETS
from proxy.plugin import Connection, Context, FetchRequest
from proxy.plugin.frames import BAD_BYTES, REQUEST_HEAD, Beginning, Certain, FastPath, Spans, fixed_bytes, spans_finder

HEAD = REQUEST_HEAD.size
MOST = 64  # lengths of requests that are remembered on one connection, and requests of each length
ROOM = 1 << 20  # bytes that all samples of a connection may take
PIECE = 64  # bytes that the bytes between two offsets take beside themselves: they are an object of their own
LONGEST = 16 << 10  # bytes of a request of 400 partitions; finding its layout, without slices, takes 2 ms
PATIENCE = 10_000  # requests that found no room, after which the memory is emptied
EPOCH = Struct(">i")


@dataclass(slots=True, eq=False)
class FetchSample:
    """A request that passed, and the edition of the rules that let it pass."""

    ctx: Context
    authorizer: ClientAuthorizer
    edition: object
    session: AuthorizedSession
    content: object  # of the session, after the request
    epoch_at: int = 0  # the position of the session epoch, behind the head

    @property
    def holds(self) -> bool:
        """Are the same rules in force?"""
        return self.authorizer.decides_by(self.edition)

    def is_next(self, data: memoryview, start: int, stop: int) -> bool:
        """Is a request that is like this one, and goes on from `start` behind its head, the next one of its session?"""
        if not self.authorizer.decides_by(self.edition):  # asking `holds` takes 0.03 us more
            return False
        return self.session.repeat(EPOCH.unpack_from(data, start + self.epoch_at)[0], self.content)


class FetchLayout:
    """The bytes that matter in requests of one length, and their values in the requests that passed."""

    __slots__ = ("fixed", "said", "tried")

    def __init__(self, fixed: Struct) -> None:
        self.fixed = fixed
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
        return ROOM - max(self._room, 0)

    def let_go(self) -> None:
        """Forget them: requests are read once more, except for one that is like the last that was read."""
        self._layouts.clear()
        self._room, self._turned_away = ROOM, 0

    def find(self, api: int, rest: memoryview) -> FetchSample | None:
        """The sample that a frame is like of which this is the `rest` behind its head."""
        layout = self._layouts.get((api, len(rest)))
        sample = None if layout is None else layout.said.get(layout.fixed.unpack_from(rest, 0))
        if sample is None or sample.holds:
            return sample
        self.let_go()  # their notes keep rules in memory that were replaced
        return None

    def keep(self, api: int, sample: FetchSample, frame: memoryview, body: int) -> Certain | None:
        """Keep a sample of a request, if that is worth while. Returns which are like it."""
        if len(frame) > LONGEST or not self._is_worth_keeping(api, len(frame) - HEAD, sample.edition):
            return None
        varying = spans_finder(FetchRequest, sample.ctx.version, "session_epoch", *OFFSETS)(frame, body)[:-1]
        sample.epoch_at = varying[0][0] - HEAD  # the epoch is before all topics
        self._keep_layout(api, frame, varying, sample)
        return Certain(len(frame), varying=varying, exact=True, rest=sample.is_next)

    def _is_worth_keeping(self, api: int, length: int, edition: object) -> bool:
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

    def _keep_layout(self, api: int, frame: memoryview, varying: Spans, sample: FetchSample) -> None:
        """Keep a sample. Frames are like it that differ only in the bytes `varying`."""
        fixed = fixed_bytes(HEAD, len(frame), varying)
        length = len(frame) - HEAD
        layout = self._layouts[api, length]
        if layout is None:
            layout = self._layouts[api, length] = FetchLayout(fixed)
            self._room -= PIECE * (len(varying) + 1)
        layout.tried += 1
        if fixed.format == layout.fixed.format:
            said = fixed.unpack_from(frame, HEAD)
            self._room -= sum(map(len, said)) + PIECE * len(said)
            if self._room >= 0:
                layout.said[said] = sample


class KnownSession(NamedTuple):
    """One session whose requests may pass, as the link knows it: it asks `goes_on`."""

    samples: FetchSamples
    api: int
    session: AuthorizedSession

    def goes_on(self, data: memoryview, start: int, stop: int) -> bool:
        """May a request of this session pass that goes on from `start` behind its head? See `Beginning.rest`."""
        sample = self.samples.find(self.api, data[start:stop])
        return sample is not None and sample.session is self.session and sample.is_next(data, start, stop)


class SessionFastPath:
    """A FastPath for requests of sessions. `others` is asked about all other requests."""

    counts = True  # each request that passes advances the session's epoch

    def __init__(self, fetching: FetchHandlers, others: FastPath) -> None:
        self._fetch = fetching
        self.keys = fetching.keys
        self._others = others

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The context of the earlier request that this one is like; None: it must be read."""
        samples: FetchSamples | None = connection.samples.get(self)
        if samples is None or len(frame) < length or (sample := samples.find(api, frame[HEAD:])) is None:
            return self._others.passes(connection, api, frame, length)
        return sample.ctx if sample.is_next(frame, HEAD, length) else None

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """Keep a request that was read and passed, if others like it may pass."""
        fetch = self._fetch.pending(ctx)
        if fetch is None or fetch.of is None:
            return self._others.learn(ctx, frame, body)
        if not fetch.may_repeat:
            return None
        samples: FetchSamples = ctx.connection.samples.setdefault(self, FetchSamples())
        sample = FetchSample(ctx.as_sample(), fetch.authorizer, fetch.edition, fetch.of, fetch.content)
        sample.ctx.unneeded, sample.ctx.minds_errors = fetch.holds, True  # an error ends the session
        api, certain = ctx.api.key << 16 | ctx.version, None
        with suppress(*BAD_BYTES):  # the broker will refuse it
            certain = samples.keep(api, sample, frame, body)
        known = KnownSession(samples, api, sample.session)
        return Beginning(HEAD, known.goes_on, sample.ctx, certain, whole=True)
