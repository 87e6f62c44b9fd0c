"""Each shipped incident has its described effect on four real clients on three real brokers, and ends.

Each client has its own Doorkeeper, and runs all its activities while incidents come, one after the other. All clients
always meet a few of them, and one client each of the others; with `-m long` all clients meet all incidents.

Rules:
* An incident lasts for seconds. A client that got no CPU time meanwhile, on a busy machine, saw nothing: then the
  incident is repeated, for a minute at most.
* The scenario's own expectations must be met by each client too, so that `doorkeeper faults run` reports success.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from chaos.client import AdminClient
from proxy.scenarios.play import Progress, ScenarioPlay
from proxy.scenarios.reading import read_scenario, shipped
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.incidents.libraries import all_clients
from tests.real.incidents.sightings import CLIENTS, FOR_ALL, FOR_ONE, SIGHTINGS, is_unheeded
from tests.real.incidents.steady import Activities
from tests.real.ports import free_port
from tests.real.records import patiently

pytestmark = [
    pytest.mark.real,
    # kafka-python's producers warn when they are deleted with records that were never sent.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SETTING = {"heartbeat-starvation": {"starved": "8s"}}  # longer than these clients' session timeout
SILENT = Progress(lambda *_: None, lambda *_: None)


class Client(NamedTuple):
    """One client, and the admin API of its Doorkeeper."""

    name: str
    activities: Activities
    admin: AdminClient

    def meets(self, name: str) -> None:
        """Repeat an incident until the client has seen it and the scenario's expectations were met."""
        wanted = SIGHTINGS[name].seen[self.name]
        was_seen = was_met = False
        for _ in patiently(f"{self.name} sees one of {sorted(wanted)} in {name}, and all that it expects comes"):
            seen, unmet = self._play(name)
            print(name, self.name, sorted(seen), *unmet)
            was_seen, was_met = was_seen or bool(seen & wanted), was_met or not unmet
            if was_seen and was_met:
                break

    def _play(self, name: str) -> tuple[set[str], list[str]]:
        scenario = read_scenario(shipped()[name], SETTING.get(name)).usable()
        self.activities.settle()
        moments = self.activities.moments()
        play = ScenarioPlay(scenario, self.admin, SILENT)
        play.play(seed=7)
        self.activities.settle()
        doing = [(it, moment) for it, moment in moments.items() if it.kind == SIGHTINGS[name].activity]
        seen = {note for activity, moment in doing for note in activity.since(moment)}
        ledger = self.admin.ledger().entries
        if is_unheeded(ledger):
            seen.add("unheeded")
        return seen if any(entry.result == "fired" for entry in ledger) else set(), play.unmet


def all_meet(clients: Iterable[Client], name: str) -> None:
    """Play an incident for all these clients at once."""
    with ThreadPoolExecutor(len(CLIENTS)) as threads:
        list(threads.map(lambda client: client.meets(name), clients))


@pytest.fixture(scope="module")
def clients(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Client]]:
    """All clients at work."""
    ways, admins = {}, {}
    with ExitStack() as stack:
        for name in CLIENTS:
            admin = f"127.0.0.1:{free_port('127.0.0.1')}"
            more = f"admin: {{bind: '{admin}'}}\nplugins: [faults]\n"
            doorkeeper = Doorkeeper(tmp_path_factory.mktemp("incidents"), cluster, more)
            ways[name], admins[name] = stack.enter_context(doorkeeper).way, AdminClient(f"http://{admin}")
        activities = stack.enter_context(all_clients(cluster.way, ways))
        yield [Client(name, activities.of(name), admin) for name, admin in admins.items()]


def test_of_every_incident_it_is_said_what_clients_see() -> None:
    assert SIGHTINGS.keys() == shipped().keys()


@pytest.mark.parametrize("name", FOR_ALL)
def test_an_incident_does_to_all_clients_what_it_says_and_ends(name: str, clients: list[Client]) -> None:
    all_meet(clients, name)


def test_each_of_the_others_does_to_one_client_what_it_says_and_ends(clients: list[Client]) -> None:
    def meets(client: Client) -> None:
        for name, one in FOR_ONE.items():
            if one == client.name:
                client.meets(name)

    with ThreadPoolExecutor(len(CLIENTS)) as threads:
        list(threads.map(meets, clients))


@pytest.mark.long
@pytest.mark.parametrize("name", FOR_ONE)
def test_and_to_all_clients(name: str, clients: list[Client]) -> None:
    all_meet(clients, name)


def test_nothing_is_left_of_them(clients: list[Client]) -> None:
    assert [client.admin.faults().faults for client in clients] == [()] * len(CLIENTS)
