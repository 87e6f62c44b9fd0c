"""Sessions: what a client fetches over many requests that name only what changed (KIP-227, KIP-932).

# A topic that is refused is not in the broker's session: it is kept out, or taken out by being forgotten, and put back
# when the rules change. Its refusal is repeated in every answer, as a broker repeats partitions in error.
# All topics are judged again when the edition of the rights is another; otherwise those that the request names, and
# those whose names were not known.
# A session belongs to the connection that opened it: whoever names another's finds none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from proxy.protocol.errors import ErrorCode

Topic = str | bytes  # a name, or an id
Verdict = Callable[[Topic], int | None]  # the error with which a topic is refused; None: it may be served
MOST = 64  # sessions of one connection; the oldest is forgotten, and its client begins anew

K = TypeVar("K", bound=Hashable)


class Asked(NamedTuple):
    """A topic of a request: its partitions by index, as they were asked for."""

    topic: Topic
    partitions: dict[int, Any]


class Change(NamedTuple):
    """What of a request goes to the broker. `changed`: it is not what came; `restored`: topics were put back."""

    topics: list[Asked]
    forgotten: list[Asked]  # beside those that the client forgets
    changed: bool
    restored: bool = False


class Session:
    """All topics that the client asked for, and those that were refused, with their errors.

    `stale`: requests passed since whose offsets were not read.
    """

    def __init__(self) -> None:
        self.stale = False
        self.is_open = True
        self.wanted: dict[Topic, dict[int, Any]] = {}
        self.refused: dict[Topic, int] = {}
        self._edition: object = None

    def step(self, asked: list[Asked], forgotten: Iterable[Asked], verdict: Verdict, edition: object) -> Change:
        """Take what a request says. Gives what the broker's session needs to be told."""
        had = self._had(asked, edition)
        for topic, partitions in asked:
            self.wanted.setdefault(topic, {}).update(partitions)
        for topic, partitions in forgotten:  # what is asked for and forgotten is forgotten, as brokers do it
            self._forget(topic, partitions)
        before = self.refused.keys() & self.wanted.keys()
        self._judge({topic for topic, _ in asked if topic in self.wanted}, verdict, edition)
        now = self.refused.keys()
        if not before and not now:
            return Change(asked, [], False)
        named = {topic for topic, _ in asked}
        back = [Asked(topic, self.wanted[topic]) for topic in before - now]
        topics = [one for one in asked if one.topic not in before and one.topic not in now] + back
        out = [Asked(topic, left) for topic in now - before if (left := self._left(topic, had))]
        return Change(topics, out, bool(back or out or named & now), bool(back))

    def _had(self, asked: list[Asked], edition: object) -> dict[Topic, dict[int, Any]]:
        """What is in the broker's session of the topics that may be refused now."""
        judged = self.wanted if edition is not self._edition else {one.topic: None for one in asked}
        return {
            topic: dict(self.wanted[topic]) for topic in judged if topic in self.wanted and topic not in self.refused
        }

    def _left(self, topic: Topic, had: dict[Topic, dict[int, Any]]) -> dict[int, Any]:
        """What is still in the broker's session of a topic."""
        wanted = self.wanted[topic]
        return {partition: asked for partition, asked in had.get(topic, {}).items() if partition in wanted}

    def _forget(self, topic: Topic, partitions: Iterable[int]) -> None:
        left = self.wanted.get(topic, {})
        for partition in partitions:
            left.pop(partition, None)
        if not left:
            self.wanted.pop(topic, None)
            self.refused.pop(topic, None)

    def _judge(self, named: set[Topic], verdict: Verdict, edition: object) -> None:
        if edition is not self._edition:
            named = set(self.wanted)
        named |= {topic for topic, error in self.refused.items() if error == ErrorCode.UNKNOWN_TOPIC_ID}
        self._edition = edition
        for topic in named:
            error = verdict(topic)
            if error is None:
                self.refused.pop(topic, None)
            else:
                self.refused[topic] = error


class Sessions(Generic[K]):
    """The sessions of one connection, by what the client calls them."""

    def __init__(self) -> None:
        self._open: OrderedDict[K, Session] = OrderedDict()

    def get(self, key: K) -> Session | None:
        return self._open.get(key)

    def open(self, key: K, session: Session) -> None:
        self._open[key] = session
        while len(self._open) > MOST:
            _, oldest = self._open.popitem(last=False)
            oldest.is_open = False

    def close(self, key: K) -> None:
        session = self._open.pop(key, None)
        if session is not None:
            session.is_open = False
