"""Authorized sessions: which topics of a fetch session are refused, and how the broker's session is kept without them.

Rules:
* A refused topic is not in the broker's session: it is not sent there, or is sent as forgotten. It is put back when the
  rules allow it again. Its refusal is repeated in every answer, as a broker repeats partitions in error.
* All topics are checked again in a new edition of the rules. Otherwise only the topics that the request names are
  checked, and those whose names were not known. So the work of a request does not grow with its session, except where
  refusals are repeated or the rules changed, and that is done in slices.
* A name that was not known is asked for again at later requests of the session, as a broker looks it up again.
* A request that is out of turn must not change the session (`fetch_sessions.py`): a topic that was forgotten only here
  would still be served by the broker, whatever the rules become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from plugins.acl.authorizer import Authorizer
from proxy.plugin import Connection, ErrorCode, turns
from proxy.plugin.fetching import FetchedTopic, FetchSession, FetchSessions, Topic

SESSIONS = "authorized sessions"  # with the plugin's name, the key of a connection's note
AGAIN = 1.0  # seconds between two questions for the names of topics that were not known
TopicVerdict = Callable[[Topic], int | None]  # the error with which a topic is refused; None: it may be served


def sessions(connection: Connection, authorizer: Authorizer) -> FetchSessions[AuthorizedSession]:
    """The sessions of one connection, of Fetch and of ShareFetch. A later authorizer of the same name has them too."""
    key = SESSIONS, authorizer.name
    found: FetchSessions[AuthorizedSession] | None = connection.notes.get(key)
    if found is None:
        found = connection.notes[key] = FetchSessions(AuthorizedSession)
    return found


def forget_sessions(connection: Connection, authorizer: Authorizer) -> None:
    """Forget the sessions of this connection, which may not be true any more."""
    connection.notes.pop((SESSIONS, authorizer.name), None)


class Change(NamedTuple):
    """The part of a request that goes to the broker. `changed`: it differs; `restored`: topics were put back."""

    topics: list[FetchedTopic]
    forgotten: list[FetchedTopic]  # in addition to those that the client forgets
    changed: bool
    restored: bool
    refused: dict[Topic, int]  # of the topics in the request, also those that it forgets at once


class Checked(NamedTuple):
    """The topics in a request that are refused, with their errors; those of the session that now are, or no longer."""

    refused: dict[Topic, int]
    added: list[Topic]
    restored: list[Topic]


class AuthorizedSession(FetchSession):
    """A session of which some topics are refused, each with its error.

    `stale`: later requests passed unread, so that the offsets known here are old.
    """

    __slots__ = ("_asked", "_edition", "_unnamed", "refused", "stale")

    def __init__(self, *, by_id: bool) -> None:
        super().__init__(by_id=by_id)
        self.stale = False
        self.refused: dict[Topic, int] = {}
        self._unnamed: dict[Topic, None] = {}  # those that are refused because their names are not known
        self._asked = 0.0  # when their names were asked for last
        self._edition: object = None

    def repeat(self, epoch: int, content: object) -> bool:
        """Take in a request unread that is like an earlier one but for its epoch and offsets. False: it must be read.

        `content`: that of the session after the earlier one. With another, the request may mean something else: a
        partition forgotten meanwhile would come back unread.
        """
        if epoch != self.epoch or content is not self.content or not self.is_open or self.refused:
            return False
        self.advance()
        self.stale = True
        return True

    def due(self, now: float) -> list[bytes]:
        """The ids whose names are to be asked for again: once a second, those that were not known."""
        if not self._unnamed or abs(now - self._asked) < AGAIN:
            return []
        self._asked = now
        return [topic for topic in turns(self._unnamed) if isinstance(topic, bytes)]

    def step(
        self, asked: list[FetchedTopic], forgotten: list[FetchedTopic], verdict: TopicVerdict, edition: object
    ) -> Change:
        """Take in a request. Returns the change that the broker's session needs."""
        named: dict[Topic, dict[int, Any]] = {}
        new: dict[Topic, set[int]] = {}  # partitions that the session did not have before
        for topic, partitions in turns(asked):
            there = self.topics.get(topic, {})
            named.setdefault(topic, {}).update(partitions)
            new.setdefault(topic, set()).update(index for index in turns(partitions) if index not in there)
        self.take(asked, forgotten)
        for topic, _ in turns(forgotten):
            if topic not in self.topics:
                self._allow(topic)
        refused, added, back = self._check(named, verdict, edition)
        if not refused and not added and not back:
            return Change(asked, [], changed=False, restored=False, refused=refused)
        topics = [one for one in turns(asked) if one.topic not in refused]
        topics += self._others(back, named)
        out = [*self._others(added, new)]
        return Change(topics, out, changed=bool(back or out or refused), restored=bool(back), refused=refused)

    def _others(self, topics: list[Topic], named: Mapping[Topic, Container[int]]) -> Iterator[FetchedTopic]:
        """The partitions of these topics that are not named. A topic without any is left out."""
        for topic in turns(topics):
            out = named.get(topic, ())
            others = {index: asked for index, asked in turns(self.topics[topic].items()) if index not in out}
            if others:
                yield FetchedTopic(topic, others)

    def _check(self, named: Collection[Topic], verdict: TopicVerdict, edition: object) -> Checked:
        """Check the topics that the request names, and those that may be decided otherwise now."""
        again: Iterable[Topic] = [*self._unnamed] if edition is self._edition else self.topics
        self._edition = edition
        checked = Checked({}, [], [])
        for topic in turns(chain(named, (topic for topic in turns(again) if topic not in named))):
            error = verdict(topic)
            if error is None:
                if self._allow(topic):
                    checked.restored.append(topic)
                continue
            if topic in self.topics:
                if topic not in self.refused:
                    checked.added.append(topic)
                self._refuse(topic, error)
            if topic in named:
                checked.refused[topic] = error
        return checked

    def _refuse(self, topic: Topic, error: int) -> None:
        self.refused[topic] = error
        if error == ErrorCode.UNKNOWN_TOPIC_ID:
            self._unnamed[topic] = None
        else:
            self._unnamed.pop(topic, None)

    def _allow(self, topic: Topic) -> bool:
        """Refuse this topic no longer. Returns whether it was refused."""
        self._unnamed.pop(topic, None)
        return self.refused.pop(topic, None) is not None
