"""Learning: the names of topics that a client names by ids which the worker does not know.

Rules:
* The broker is asked on the client's connection, between two requests. Only a request that begins at that moment waits
  for the answer.
* The event of a request with such an id waits for the name. If the name cannot be found, the event has only the id.
* Ids that come while others are asked for are asked for next.
* Each id is asked for once on a connection. Only a limited number is remembered: a forgotten one is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from proxy.plugin import TURN, Alone, Connection, Services, Steps, turns

MOST_ASKED = 1_000  # ids that are remembered, of one connection, and ids in one question
MOST_WAITING = 1_000  # events, or resources in them

Put = Callable[[], None]


class TopicLearner:
    """Learns the names of topics for one connection."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._asked: dict[bytes, None] = {}  # the oldest first
        self._wanted: list[bytes] = []
        self._waiting: list[Put] = []
        self._weight = 0  # of the waiting events
        self._is_asking = False

    def learn(self, connection: Connection, ids: Iterable[bytes]) -> bool:
        """Ask for the names that are not known. Returns whether there is an answer to wait for."""
        names = self._services.topics
        unknown = [topic_id for topic_id in turns(ids) if names.get(topic_id) is None]
        if not unknown:
            return False
        new = [one for one in names.unknown(unknown) if one not in self._asked][: MOST_ASKED - len(self._wanted)]
        self._asked.update(dict.fromkeys(new))
        while len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        self._wanted += new
        if new and not self._is_asking:
            self._is_asking = True
            connection.gate.run(self._ask(connection))
        return self._is_asking

    def when_known(self, put: Put, weight: int = 1) -> None:
        """Call `put` once the answer is there. `weight`: the room that its event takes, in plain events."""
        self._waiting.append(put)
        self._weight += weight
        if self._weight > MOST_WAITING:
            self.give_up()

    def give_up(self) -> None:
        """Do not wait any longer: call all that waits."""
        waiting, self._waiting, self._weight = self._waiting, [], 0
        for put in waiting:
            put()

    def _ask(self, connection: Connection) -> Steps:
        try:
            yield TURN  # the request that named them goes first
            yield Alone()
            try:
                while self._wanted:
                    ids, self._wanted = self._wanted, []
                    yield from self._services.topics.ask(ids)
            finally:
                connection.gate.leave()
        except Exception as error:  # the journal then has the ids alone
            why = type(error).__name__
            self._services.tell("names of topics not learnt", connection, level="warning", why=why)
        self._is_asking = False
        self._wanted.clear()
        self.give_up()
        return None
