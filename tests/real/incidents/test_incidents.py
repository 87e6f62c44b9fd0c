"""Each incident that is shipped does what it says to four real clients on three real brokers, and ends.

All clients do all that they do while the incidents come, one after the other. A few of these run always, all of them
with `-m long`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos.client import AdminClient
from proxy.scenarios.play import Progress, ScenarioPlay
from proxy.scenarios.reading import read_scenario, shipped
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.incidents.libraries import all_clients
from tests.real.incidents.sightings import SHORT, SIGHTINGS
from tests.real.incidents.steady import Activities
from tests.real.ports import free_port

pytestmark = [
    pytest.mark.real,
    # kafka-python's producers complain where they are let go with records that were never sent.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SETTING = {"heartbeat-starvation": {"starved": "8s"}}  # longer than the sessions of these clients
SILENT = Progress(lambda *_: None, lambda *_: None)


@pytest.fixture(scope="module")
def gateway(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Doorkeeper, AdminClient]]:
    admin = f"127.0.0.1:{free_port('127.0.0.1')}"
    more = f"admin: {{bind: '{admin}'}}\nplugins: [faults]\n"
    with Doorkeeper(tmp_path_factory.mktemp("incidents"), cluster, more) as doorkeeper:
        yield doorkeeper, AdminClient(f"http://{admin}")


@pytest.fixture(scope="module")
def clients(cluster: Cluster, gateway: tuple[Doorkeeper, AdminClient]) -> Iterator[Activities]:
    """All that all clients do."""
    with all_clients(cluster.way, gateway[0].way) as activities:
        yield activities


def test_of_every_incident_it_is_said_what_clients_see() -> None:
    assert SIGHTINGS.keys() == shipped().keys()


@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in SIGHTINGS]
)
def test_an_incident_does_what_it_says_and_ends(
    name: str, clients: Activities, gateway: tuple[Doorkeeper, AdminClient]
) -> None:
    scenario = read_scenario(shipped()[name], SETTING.get(name)).usable()
    clients.settle()
    moments = clients.moments()
    play = ScenarioPlay(scenario, gateway[1], SILENT)
    play.play(seed=7)
    clients.settle()
    assert not play.unmet
    wanted = SIGHTINGS[name]
    found = {it.library.name: it.since(moment) for it, moment in moments.items() if it.kind == wanted.activity}
    print(name, {client: sorted(seen) for client, seen in found.items()})
    assert {client: seen for client, seen in found.items() if not seen & wanted.seen[client]} == {}


def test_nothing_is_left_of_them(gateway: tuple[Doorkeeper, AdminClient], clients: Activities) -> None:
    assert gateway[1].faults().faults == ()
