"""Fast path: requests that no fault can be about pass without being read.

Reading a small Produce request and comparing it with the faults takes 60 us. Recognising that it need not be read
takes 0.5 us.

Rules:
* Where no fault can be about requests of this API by this client, the content of a request does not matter.
* Where each fault names topics, the topics of Produce and Fetch requests are checked. A request passes if it begins
  like one that was read and passed, and has only topics that no fault names. All others are read.
* The next request of a fetch session that may go on passes too: it differs only in its session epoch.
* This holds until the faults or the client change (`ConnectionFaults`). For known beginnings the link ensures that.
* A request that passes so is no nearer to a fault than the one read before it, whose near misses are in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from plugins.faults.connection_faults import ConnectionFaults, faults_of
from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from plugins.faults.unmeant import EPOCH, HEAD, SameInSession, Unmeant, UnmeantTopics, beginning
from proxy.plugin import PRODUCE, Connection, Context, ProduceRequest, TopicNames
from proxy.plugin.frames import (
    BAD_BYTES,
    TOPICS,
    Beginning,
    RequestTopics,
    end_finder,
    spans_finder,
)

LONGEST_REST = 1 << 10  # bytes of a request from its session epoch on that are kept


class FaultsFastPath:
    """A FastPath. `names`: the names of topics by their ids."""

    counts = False

    def __init__(self, key: str, in_force: FaultsInForce, names: TopicNames) -> None:
        self._key, self._in_force, self._names = key, in_force, names
        self.keys = frozenset({key})

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The earlier request that this one begins like, if no fault is about any of its topics."""
        known: Unmeant | None = connection.samples.get(self)
        if known is None or known.api != api or known.of is not connection.notes.get(self._key):
            return None  # the client was another one meanwhile, and its sessions were not checked by these faults
        if not known.of.holds() or not known.are_all(frame):
            return None
        return known.ctx

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """Learn from a request that was read and passed."""
        of = faults_of(ctx.connection, self._key, self._in_force)
        faults = of.of(ctx)
        try:
            if not faults:
                if ctx.api.request in TOPICS:  # for other APIs the beginning given to the link is enough
                    ctx.connection.samples[self] = Unmeant(ctx.as_sample(), of, bytes(frame[HEAD:body]))
                return Beginning(_end_of_acks(ctx, frame, body) if ctx.api is PRODUCE else body)
            return self._learn(ctx, of, faults, frame, body) if ctx.api.request in TOPICS else None
        except BAD_BYTES:
            return None  # the broker will refuse it

    def _learn(
        self, ctx: Context, of: ConnectionFaults, faults: Iterable[NamedFault], frame: memoryview, body: int
    ) -> Beginning | None:
        request, version = ctx.api.request, ctx.version
        if any(fault.match.topic is None for _, fault in faults):
            return None  # it may be about any topic, and about a request of a session that names none
        begins = beginning(ctx, of, frame, body)
        if begins is None:
            return None
        topics = RequestTopics(request, version).find(frame, body)
        if topics is None or any(self._may_be_meant(topic, faults) for topic in topics):
            return None
        if not topics and begins.session is None:
            return None
        known: Unmeant | None = ctx.connection.samples.get(self)
        api = ctx.api.key << 16 | version
        if not isinstance(known, UnmeantTopics) or (known.of, known.api, known.begins) != (of, api, begins):
            known = ctx.connection.samples[self] = UnmeantTopics(ctx.as_sample(), of, begins)
        known.know(topics)
        if begins.session is not None:
            end = HEAD + len(begins.start)
            current = partial(ctx.connection.notes.get, self._key)
            same = SameInSession(of, begins.session, bytes(frame[end + EPOCH :]), current)
            is_all = ctx.request_bytes - end <= LONGEST_REST and len(frame) == ctx.request_bytes
            return Beginning(end, same.goes_on) if is_all else None
        if len(topics) != 1:
            return None
        _, name = TOPICS[request]
        (_, end), *_ = spans_finder(request, version, name, "topic_id")(frame, body)
        return Beginning(end)

    def _may_be_meant(self, topic: str | bytes, faults: Iterable[NamedFault]) -> bool:
        name = self._names.of(topic)
        return name is None or any(fault.match.holds("topic", name) for _, fault in faults)


def _end_of_acks(ctx: Context, frame: memoryview, body: int) -> int:
    return end_finder(ProduceRequest, ctx.version, "acks")(frame, body)
