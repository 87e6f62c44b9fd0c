"""Authorized sessions: which topics of a fetch session are refused, and what the broker's session is told instead.

# A topic that is refused is not in the broker's session: it never gets there, or is taken out by being forgotten. It is
# put back when the rules change. Its refusal is repeated in every answer, as a broker repeats partitions in error.
# All topics are checked again when the edition of the rules is another; otherwise those that the request names, and
# those whose names were not known.
# A request that is not in its turn must not be believed (`fetch_sessions.py`): a topic that was forgotten only here
# would be served there whatever the rules become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from plugins.acl.authorizer import Authorizer
from proxy.plugin import FETCH, SHARE_FETCH, Api, Connection, ErrorCode, turns
from proxy.plugin.fetching import FetchedTopic, FetchSession, FetchSessions, Topic

Verdict = Callable[[Topic], int | None]  # the error with which a topic is refused; None: it may be served


def sessions_key(authorizer: Authorizer, api: Api) -> str:
    """Under what a connection notes its sessions of this API: another authorizer of the same name goes on with them."""
    return f"{authorizer.name}: sessions of {api.name}"


def sessions(connection: Connection, key: str) -> FetchSessions[AuthorizedSession]:
    """Those of one connection."""
    found: FetchSessions[AuthorizedSession] | None = connection.notes.get(key)
    if found is None:
        found = connection.notes[key] = FetchSessions(AuthorizedSession)
    return found


def forget_sessions(connection: Connection, authorizer: Authorizer) -> None:
    """What is known of the sessions of this connection is true no more."""
    for api in (FETCH, SHARE_FETCH):
        connection.notes.pop(sessions_key(authorizer, api), None)


class Change(NamedTuple):
    """What of a request goes to the broker. `changed`: it is not what came; `restored`: topics were put back."""

    topics: list[FetchedTopic]
    forgotten: list[FetchedTopic]  # beside those that the client forgets
    changed: bool
    restored: bool
    refused: dict[Topic, int]  # of the topics asked for, also those that are forgotten at once


class AuthorizedSession(FetchSession):
    """A session of which some topics are refused, each with its error.

    `stale`: requests went by since whose offsets were not read.
    """

    def __init__(self, *, by_id: bool) -> None:
        super().__init__(by_id=by_id)
        self.stale = False
        self.refused: dict[Topic, int] = {}
        self._edition: object = None

    def step(
        self, asked: list[FetchedTopic], forgotten: list[FetchedTopic], verdict: Verdict, edition: object
    ) -> Change:
        """Take what a request says. Gives what the broker's session needs to be told."""
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
        """What is in the broker's session of the topics that may be refused now."""
        concerned = self.topics if edition is not self._edition else {one.topic: None for one in asked}
        return {
            topic: dict(self.topics[topic])
            for topic in turns([*concerned])
            if topic in self.topics and topic not in self.refused
        }

    def _left(self, topic: Topic, had: dict[Topic, dict[int, Any]]) -> dict[int, Any]:
        """What is still in the broker's session of a topic."""
        there = self.topics[topic]
        return {partition: asked for partition, asked in turns(had.get(topic, {}).items()) if partition in there}

    def _check(self, named: Collection[Topic], verdict: Verdict, edition: object) -> dict[Topic, int]:
        """Those named that are refused, with their errors."""
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
