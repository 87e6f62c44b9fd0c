"""Sessions: what a client fetches over many requests that name only what changed (KIP-227, KIP-932).

# A topic that is refused is not in the broker's session: it is kept out, or taken out by being forgotten, and put back
# when the rules change. Its refusal is repeated in every answer, as a broker repeats partitions in error.
# All topics are judged again when the edition of the rights is another; otherwise those that the request names, and
# those whose names were not known.
# A session belongs to the connection that opened it: whoever names another's finds none.
# A request counts only in its turn (its epoch). The broker takes no other, so what another said must not be believed: a
# topic that was forgotten only here would be served there whatever the rules become.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable
from copy import copy
from typing import Any, Generic, NamedTuple, TypeVar

from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import turns

Topic = str | bytes  # a name, or an id
Verdict = Callable[[Topic], int | None]  # the error with which a topic is refused; None: it may be served
FIRST, LAST = 1, 0x7FFFFFFF  # epochs of requests that go on with a session
MOST = 64  # sessions of one connection; the oldest is forgotten, and its client begins anew
PARTITION = 300  # bytes that one takes
TOPIC = 300  # and one topic, beside the characters of its name

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
    restored: bool
    refused: dict[Topic, int]  # of the topics asked for, also those that are forgotten at once


class Session:
    """All topics that the client asked for, and those that were refused, with their errors.

    `stale`: requests passed since whose offsets were not read. `by_id`: its topics are known by their ids.
    """

    def __init__(self, *, by_id: bool) -> None:
        self.by_id = by_id
        self.epoch = FIRST  # of the next request
        self.stale = False
        self.is_open = True
        self.wanted: dict[Topic, dict[int, Any]] = {}
        self.refused: dict[Topic, int] = {}
        self.size = 0  # partitions
        self.named = 0  # bytes that the topics take
        self.content: object = None  # another one whenever some come or go
        self._edition: object = None

    def advance(self) -> None:
        """The request was taken whose turn it was: now it is the next one's."""
        self.epoch = self.epoch + 1 if self.epoch < LAST else FIRST

    def step(self, asked: list[Asked], forgotten: Iterable[Asked], verdict: Verdict, edition: object) -> Change:
        """Take what a request says. Gives what the broker's session needs to be told."""
        had = self._had(asked, edition)
        for topic, partitions in turns(asked):
            if partitions:
                if topic not in self.wanted:
                    self.named += _taken(topic)
                wanted = self.wanted.setdefault(topic, {})
                before_these = len(wanted)
                wanted.update({index: _bare(one) for index, one in turns(partitions.items())})
                self._count(len(wanted) - before_these)
        for topic, partitions in turns(forgotten):  # what is asked for and forgotten is forgotten, as brokers do it
            self._forget(topic, partitions)
        before = set(self.refused)
        named: dict[Topic, dict[int, Any]] = {}
        for topic, partitions in turns(asked):
            named.setdefault(topic, {}).update(partitions)
        refused = self._judge(named, verdict, edition)
        if not before and not self.refused and not refused:
            return Change(asked, [], changed=False, restored=False, refused=refused)
        back = before - self.refused.keys()
        topics = [one for one in turns(asked) if one.topic not in refused]
        for topic in turns(back):
            unasked = {index: it for index, it in self.wanted[topic].items() if index not in named.get(topic, ())}
            topics += [Asked(topic, unasked)] * bool(unasked)
        out = [Asked(topic, left) for topic in turns(self.refused.keys() - before) if (left := self._left(topic, had))]
        return Change(topics, out, changed=bool(back or out or refused), restored=bool(back), refused=refused)

    def _had(self, asked: list[Asked], edition: object) -> dict[Topic, dict[int, Any]]:
        """What is in the broker's session of the topics that may be refused now."""
        judged = self.wanted if edition is not self._edition else {one.topic: None for one in asked}
        return {
            topic: dict(self.wanted[topic])
            for topic in turns([*judged])
            if topic in self.wanted and topic not in self.refused
        }

    def _left(self, topic: Topic, had: dict[Topic, dict[int, Any]]) -> dict[int, Any]:
        """What is still in the broker's session of a topic."""
        wanted = self.wanted[topic]
        return {partition: asked for partition, asked in turns(had.get(topic, {}).items()) if partition in wanted}

    def _forget(self, topic: Topic, partitions: Iterable[int]) -> None:
        left = self.wanted.get(topic, {})
        before = len(left)
        for partition in turns(partitions):
            left.pop(partition, None)
        self._count(len(left) - before)
        if not left:
            if self.wanted.pop(topic, None) is not None:
                self.named -= _taken(topic)
            self.refused.pop(topic, None)

    def _count(self, more: int) -> None:
        """So many partitions came, or went."""
        if more:
            self.size += more
            self.content = object()

    def _judge(self, named: Collection[Topic], verdict: Verdict, edition: object) -> dict[Topic, int]:
        """Those named that are refused, with their errors."""
        again = [topic for topic, error in self.refused.items() if error == ErrorCode.UNKNOWN_TOPIC_ID]
        if edition is not self._edition:
            again = [*self.wanted]
        self._edition = edition
        refused = {}
        for topic in dict.fromkeys((*again, *named)):
            error = verdict(topic)
            if error is None:
                self.refused.pop(topic, None)
                continue
            if topic in self.wanted:
                self.refused[topic] = error
            if topic in named:
                refused[topic] = error
        return refused


def _taken(topic: Topic) -> int:
    """Bytes that a topic takes in a session: its name may be long."""
    return TOPIC + 4 * len(topic)


def _bare(partition: Any) -> Any:
    """What was asked of a partition, without tagged fields that nobody knows: they may be long, and are not counted."""
    if not getattr(partition, "unknown_tags", ()):
        return partition
    bare = copy(partition)
    bare.unknown_tags = ()
    return bare


class Sessions(Generic[K]):
    """The sessions of one connection, by what the client calls them."""

    def __init__(self) -> None:
        self._open: OrderedDict[K, Session] = OrderedDict()

    @property
    def held(self) -> int:
        """Bytes that they take, at a guess."""
        return sum(PARTITION * session.size + session.named for session in self._open.values())

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
