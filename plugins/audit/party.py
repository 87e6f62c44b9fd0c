"""The party: the identity of a client, as far as it is known now, made once for all events that share it."""

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
from rules.noted import noted_rules

ALL_IN_FULL = LevelsFile()
MOST_TOLD = 1_000  # known topics of one client, API and version, whose requests are recorded unread
MOST_CELLS = 10_000  # their partitions
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
        self._clock = services.clock
        self._file = file
        self._levels: ClientLevels | None = None
        self._levels_of: LevelsFile | None = None
        self._edition: object = None  # of the connection
        self._rules_id: Callable[[], str | None] = _no_rules
        self._rules: str | None = None
        self._made_of: tuple[Any, ...] = ()
        self.shared = SharedFields({})
        self.tallies: dict[TallyKey, OpenTally] = {}

    def of(self, connection: Connection) -> SharedFields:
        """The present party."""
        if connection.edition is not self._edition or self._rules_id() != self._rules:
            self._renew(connection)
        return self.shared

    def _renew(self, connection: Connection) -> None:
        """Make a new party if something in it has changed."""
        noted = noted_rules(connection)
        self._edition, self._rules_id = connection.edition, _no_rules if noted is None else noted.edition
        self._rules = self._rules_id()
        made_of = (
            self._rules,
            connection.principal,
            connection.client_id,
            connection.software_name,
            connection.software_version,
            connection.mechanism,
            connection.delegation,
        )
        if made_of != self._made_of:
            self._made_of, self._levels = made_of, None
            self.tallies.clear()
            self.shared = SharedFields(_party(self.number, connection, self._rules))

    def tally(self, connection: Connection, key: TallyKey) -> OpenTally | None:
        """The tally for unread requests of this API and version, if neither the client nor the levels have changed."""
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
            self._levels, self._levels_of = ClientLevels(file, connection, self._clock), file
            self.tallies.clear()
        return self._levels


def _is_full(told: ToldTraffic) -> bool:
    return len(told.topics) >= MOST_TOLD or len(told.heads) >= MOST_CELLS


def _no_rules() -> None:
    """The id of the rules, where there are none."""


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
