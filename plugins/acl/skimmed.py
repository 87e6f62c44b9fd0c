"""Skimmed fetches: of one with many topics only their names are looked at.

Reading one takes 5 us a topic, skimming it 0.5.

# What stands before the body must be as in a request that was read and passed: who asks. It must be a consumer's and
# without a session, and have no tags.
# Every name must be one that may be used, by the same edition of the client's rights. All else is read.
"""

from __future__ import annotations

from plugins.acl.checks import TOPIC
from plugins.acl.law import Rights
from plugins.acl.names import Names
from proxy.core.context import Context
from proxy.protocol.api import FETCH
from proxy.protocol.codec import Spans, spans_finder
from proxy.protocol.frame import REQUEST_HEAD
from proxy.protocol.messages.fetch import FetchRequest
from rules import Operation

HEAD = REQUEST_HEAD.size
MOST = 10_000  # names that are remembered
WITH_SESSIONS, WITH_IDS, WITHOUT_REPLICA_ID = 7, 13, 15
NO_SESSION = b"\xff\xff\xff\xff"
CONSUMERS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\xfe")  # replica ids: -1, and -2 to debug


class Skimmed:
    """A request that was read and passed, for others that begin like it. `good` are names that may be used."""

    __slots__ = ("_good", "_names", "_start", "body", "ctx", "edition")

    def __init__(self, ctx: Context, edition: object, frame: memoryview, body: int, names: Names) -> None:
        self.ctx = ctx
        self.edition = edition
        self._names = names
        self.body = body
        self._start = bytes(frame[HEAD:body])
        self._good: set[bytes] = set()

    def passes(self, frame: memoryview, granted: Rights) -> bool:
        """May a whole frame pass? Raises BAD_BYTES for what cannot be gone over."""
        if frame[HEAD : HEAD + len(self._start)] != self._start:
            return False
        names = self._fetched(frame)
        if names is None:
            return False
        data, good = bytes(frame), self._good
        for start, stop in names:
            name = data[start:stop]
            if name not in good:
                if not self._may(name, granted):
                    return False
                if len(good) >= MOST:
                    good.clear()
                good.add(name)
        return True

    def _fetched(self, frame: memoryview) -> Spans | None:
        version = self.ctx.version
        find = spans_finder(FetchRequest, version, "replica_id", "session_epoch", "topic", "topic_id")
        *spans, (tags, _) = find(frame, self.body)
        if version < WITHOUT_REPLICA_ID:
            start, stop = spans.pop(0)
            if frame[start:stop] not in CONSUMERS:
                return None
        if version >= WITH_SESSIONS:
            start, stop = spans.pop(0)
            if frame[start:stop] != NO_SESSION:
                return None
        return None if FETCH.is_flexible(version) and frame[tags] else spans

    def _may(self, said: bytes, granted: Rights) -> bool:
        name = self._names.get(said) if self.ctx.version >= WITH_IDS else str(said, "utf-8", "replace")
        return name is not None and granted.may(Operation.READ, TOPIC, name)
