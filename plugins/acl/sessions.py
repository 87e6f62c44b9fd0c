"""Authorized sessions: which topics of a fetch session are refused, and how the broker's session is kept without them.

Rules:
* A refused topic is not in the broker's session: it is not sent there, or is sent as forgotten. It is put back when the
  rules allow it again. Its refusal is repeated in every answer, as a broker repeats partitions in error.
* All topics are checked again in a new edition of the rules. Otherwise only the topics that the request names are
  checked, and those whose names were not known.
* A request that is out of turn must not change the session (`fetch_sessions.py`): a topic that was forgotten only here
  would still be served by the broker, whatever the rules become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from plugins.acl.authorizer import Authorizer
from proxy.plugin import FETCH, SHARE_FETCH, Api, Connection, ErrorCode, turns
from proxy.plugin.fetching import FetchedTopic, FetchSession, FetchSessions, Topic

Verdict = Callable[[Topic], int | None]  # the error with which a topic is refused; None: it may be served


def sessions_key(authorizer: Authorizer, api: Api) -> str:
    """The key of a connection's notes on sessions of this API. A later authorizer of the same name uses it too."""
    return f"{authorizer.name}: sessions of {api.name}"


def sessions(connection: Connection, key: str) -> FetchSessions[AuthorizedSession]:
    """The sessions of one connection."""
    found: FetchSessions[AuthorizedSession] | None = connection.notes.get(key)
    if found is None:
        found = connection.notes[key] = FetchSessions(AuthorizedSession)
    return found


def forget_sessions(connection: Connection, authorizer: Authorizer) -> None:
    """Forget the sessions of this connection, which may not be true any more."""
    for api in (FETCH, SHARE_FETCH):
        connection.notes.pop(sessions_key(authorizer, api), None)


class Change(NamedTuple):
    """The part of a request that goes to the broker. `changed`: it differs; `restored`: topics were put back."""

    topics: list[FetchedTopic]
    forgotten: list[FetchedTopic]  # in addition to those that the client forgets
    changed: bool
    restored: bool
    refused: dict[Topic, int]  # of the topics in the request, also those that it forgets at once


class AuthorizedSession(FetchSession):
    """A session of which some topics are refused, each with its error.

    `stale`: later requests passed unread, so that the offsets known here are old.
    """

    def __init__(self, *, by_id: bool) -> None:
        super().__init__(by_id=by_id)
        self.stale = False
        self.refused: dict[Topic, int] = {}
        self._edition: object = None

    def step(
        self, asked: list[FetchedTopic], forgotten: list[FetchedTopic], verdict: Verdict, edition: object
    ) -> Change:
        """Take in a request. Returns the change that the broker's session needs."""
        had = self._had(asked, edition)
        self.take(asked, forgotten)
        for topic, _ in turns(forgotten):
            if topic not in self.topics:
                self.refused.pop(topic, None)
        before = set(self.refused)
        named: dict[Topic, dict[int, Any]] = {}
        for topic, partitions in turns(asked):
            named.setdefault(topic, {}).update(partitions)
        refused = self._check(named, verdict, edition)
        if not before and not self.refused and not refused:
            return Change(asked, [], changed=False, restored=False, refused=refused)
        back = before - self.refused.keys()
        topics = [one for one in turns(asked) if one.topic not in refused]
        for topic in turns(back):
            unasked = {index: it for index, it in self.topics[topic].items() if index not in named.get(topic, ())}
            topics += [FetchedTopic(topic, unasked)] * bool(unasked)
        out = [
            FetchedTopic(topic, left)
            for topic in turns(self.refused.keys() - before)
            if (left := self._left(topic, had))
        ]
        return Change(topics, out, changed=bool(back or out or refused), restored=bool(back), refused=refused)

    def _had(self, asked: list[FetchedTopic], edition: object) -> dict[Topic, dict[int, Any]]:
        """The partitions in the broker's session, of topics that may be refused now."""
        concerned = self.topics if edition is not self._edition else {one.topic: None for one in asked}
        return {
            topic: dict(self.topics[topic])
            for topic in turns([*concerned])
            if topic in self.topics and topic not in self.refused
        }

    def _left(self, topic: Topic, had: dict[Topic, dict[int, Any]]) -> dict[int, Any]:
        """The partitions of a topic that are still in the broker's session."""
        there = self.topics[topic]
        return {partition: asked for partition, asked in turns(had.get(topic, {}).items()) if partition in there}

    def _check(self, named: Collection[Topic], verdict: Verdict, edition: object) -> dict[Topic, int]:
        """The topics named in the request that are refused, with their errors."""
        again = [topic for topic, error in self.refused.items() if error == ErrorCode.UNKNOWN_TOPIC_ID]
        if edition is not self._edition:
            again = [*self.topics]
        self._edition = edition
        refused = {}
        for topic in dict.fromkeys((*again, *named)):
            error = verdict(topic)
            if error is None:
                self.refused.pop(topic, None)
                continue
            if topic in self.topics:
                self.refused[topic] = error
            if topic in named:
                refused[topic] = error
        return refused
