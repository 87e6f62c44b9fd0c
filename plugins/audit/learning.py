"""Learning: what topics are called that a client names by ids which nobody has met.

# The broker is asked on the client's connection, beside its conversation, between two requests. Only a request that
# begins in just that moment waits for the answer.
# What the journal says of a request with such an id waits for the name; it goes without where there is none to be had.
# Each id is asked for once on a connection, and no more than so many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from proxy.plugin import TURN, Alone, Connection, Services, Steps, turns

MOST_ASKED = 1_000  # ids, of one connection
MOST_WAITING = 1_000  # events, or resources in them

Put = Callable[[], None]


class TopicLearner:
    """Of one connection."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._asked: set[bytes] = set()
        self._waiting: list[Put] = []
        self._weight = 0  # of what waits
        self._is_asking = False

    def learn(self, connection: Connection, ids: Iterable[bytes]) -> bool:
        """Have those asked for that are not known. Gives whether there is an answer to wait for."""
        names = self._services.topics
        unknown = [topic_id for topic_id in turns(ids) if names.get(topic_id) is None]
        if not unknown:
            return False
        new = [one for one in names.unknown(unknown) if one not in self._asked]
        new = new[: MOST_ASKED - len(self._asked)]
        if new and not self._is_asking:
            self._asked.update(new)
            self._is_asking = True
            connection.gate.run(self._ask(connection, new))
        return self._is_asking

    def when_known(self, put: Put, weight: int = 1) -> None:
        """Do this once the answer is there. `weight`: how much room it takes, in plain events."""
        self._waiting.append(put)
        self._weight += weight
        if self._weight > MOST_WAITING:
            self.give_up()

    def give_up(self) -> None:
        """Wait no longer."""
        waiting, self._waiting, self._weight = self._waiting, [], 0
        for put in waiting:
            put()

    def _ask(self, connection: Connection, ids: list[bytes]) -> Steps:
        try:
            yield TURN  # the request that named them goes first
            yield Alone()
            try:
                yield from self._services.topics.ask(ids)
            finally:
                connection.gate.leave()
        except Exception as error:  # their ids are in the journal
            why = type(error).__name__
            self._services.tell("names of topics not learnt", connection, level="warning", why=why)
        self._is_asking = False
        self.give_up()
        return None
