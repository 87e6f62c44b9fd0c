"""The party: the identity of a client, as far as it is known now, made once for all events that share it.

Rules:
* The party of a request names the rules that decided on it (`rules/noted.py`). The party of any other event, and of a
  request that no rules decided, names those in force.
* Requests are recorded unread for the party with the rules in force only. When other rules are in force, even by the
  same id, or the client is another, the next request is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from plugins.audit.learning import TopicLearner
from plugins.audit.levels import ClientLevels, LevelsFile
from plugins.audit.schema import Party
from plugins.audit.shared import SharedFields
from plugins.audit.told import ToldTraffic, told_traffic
from proxy.plugin import Api, Connection, Services, Tls
from proxy.plugin.files import WatchedFile
from proxy.plugin.frames import CompiledTally
from rules.noted import DecidingRules, RulesInForce, rules_in_force

ALL_IN_FULL = LevelsFile()
MOST_TOLD = 1_000  # known topics of one client, API and version, whose requests are recorded unread
MOST_CELLS = 10_000  # their partitions
MOST_RULES = 8  # ids of rules for which a client's party is kept
MOST_TALLIES = 8  # APIs and versions of one client whose requests are recorded unread; a client has one version each

TallyKey = tuple[int, int]  # an API's key, and a version


class OpenTally(NamedTuple):
    """The partitions whose requests need not be read (`counted.py`).

    `told`: the fields of an event for each request (`told.py`); None: they are counted.
    """

    tally: CompiledTally
    told: ToldTraffic | None = None


class KnownParty:
    """What is known of one connection. `number`: its number among the connections in this journal."""

    def __init__(self, number: int, services: Services, file: WatchedFile[LevelsFile] | None = None) -> None:
        self.number = number
        self.learner = TopicLearner(services)
        self._file = file
        self._levels: ClientLevels | None = None
        self._levels_of: LevelsFile | None = None
        self._edition: object = None  # of the connection
        self._in_force: RulesInForce
        self._rules: DecidingRules | None = None  # those in force when this was looked at last
        self._facts: tuple[Any, ...] = ()
        self._parties: dict[str | None, SharedFields] = {}  # of the present facts, by the id of the rules
        self.shared = SharedFields({})  # the party with the rules in force
        self.tallies: dict[TallyKey, OpenTally] = {}

    def of(self, connection: Connection, rules: DecidingRules | None = None) -> SharedFields:
        """The present party, of a request that these rules decided; None: with the rules in force."""
        if connection.edition is not self._edition or self._in_force() is not self._rules:
            self._renew(connection)
        return self.shared if rules is None or rules is self._rules else self._party(connection, rules)

    def is_in_force(self, rules: DecidingRules | None) -> bool:
        """Were these rules, or none, in force when `of` was asked last?"""
        return rules is self._rules

    def _renew(self, connection: Connection) -> None:
        """Make a new party if something in it has changed."""
        self._edition, self._in_force = connection.edition, rules_in_force(connection)
        rules = self._in_force()
        facts = (
            connection.principal,
            connection.client_id,
            connection.software_name,
            connection.software_version,
            connection.mechanism,
            connection.delegation,
        )
        if facts != self._facts:
            self._facts, self._levels = facts, None
            self._parties.clear()
        elif rules is self._rules:
            return
        self._rules = rules
        self.tallies.clear()
        self.shared = self._party(connection, rules)

    def _party(self, connection: Connection, rules: DecidingRules | None) -> SharedFields:
        """The party with these rules. It is the same object as before, so that its windows go on."""
        named = None if rules is None else rules.id
        party = self._parties.get(named)
        if party is None:
            if len(self._parties) >= MOST_RULES:
                self._parties.clear()
            party = self._parties[named] = SharedFields(_party(self.number, connection, named))
        return party

    def tally(self, connection: Connection, key: TallyKey) -> OpenTally | None:
        """The tally for unread requests of this API and version, if neither client, rules nor levels have changed."""
        self.of(connection)
        if self._file is not None and self._levels_of is not self._file.value:
            self.levels(connection)
        return self.tallies.get(key)

    def told(self, api: Api, version: int, make: Callable[[], CompiledTally]) -> OpenTally | None:
        """The tally for requests that are recorded in full, with room for one more topic. None: they must be read."""
        found = self.tallies.get((api.key, version))
        if found is None or found.told is None or _is_full(found.told):
            if found is None and len(self.tallies) >= MOST_TALLIES:
                self.tallies.clear()
            traffic = told_traffic(self.shared, api.name, version)
            found = None if traffic is None else OpenTally(make(), traffic)
            if found is not None:
                self.tallies[api.key, version] = found
        return found

    def levels(self, connection: Connection) -> ClientLevels:
        """The levels of its requests, by the present file."""
        file = ALL_IN_FULL if self._file is None else self._file.value
        self.of(connection)
        if self._levels is None or self._levels_of is not file:
            self._levels, self._levels_of = ClientLevels(file, connection), file
            self.tallies.clear()
        return self._levels


def _is_full(told: ToldTraffic) -> bool:
    return len(told.topics) >= MOST_TOLD or len(told.heads) >= MOST_CELLS


def with_tls(party: Party, tls: Tls | None) -> Party:
    """The party with the fields of its TLS handshake, if there was one."""
    if tls is not None:
        party["tls"] = str(tls)
        if tls.subject is not None:
            party["tls_subject"] = tls.subject
    return party


def _party(number: int, connection: Connection, rules: str | None) -> Party:
    party: Party = {
        "connection": number,
        "cluster": connection.cluster,
        "listener": connection.listener,
        "client_host": connection.client[0],
        "client_port": connection.client[1],
    }
    if connection.broker_id is not None:
        party["broker"] = connection.broker_id
    if connection.principal is not None:
        party["principal"] = connection.principal
    if connection.mechanism is not None:
        party["mechanism"] = connection.mechanism
    if connection.delegation is not None:
        party["delegation"] = connection.delegation
    with_tls(party, connection.tls)
    if connection.client_id is not None:
        party["client_id"] = connection.client_id
    if connection.software_name is not None:
        party["client_software"] = " ".join(filter(None, (connection.software_name, connection.software_version)))
    if rules is not None:
        party["rules"] = rules
    return party
