"""toxiproxy between Doorkeeper and three real brokers: real clients see the effects of toxics, and recover."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos.toxiproxy import ToxiproxyServer
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.incidents.libraries import all_clients
from tests.real.incidents.sightings import BROKEN, CLIENTS, by_all
from tests.real.incidents.steady import Activities
from tests.real.toxics import running_toxiproxy

pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

# Toxics with their attributes, and what sending clients see. "ok" means that a toxic does them no harm; its effect on
# bytes is tested in tests/chaos/test_toxiproxy.py.
TOXICS = {
    "latency": ({"latency": 1_200}, by_all("sends", "late")),
    "bandwidth": ({"rate": 1}, by_all("sends", "ok")),
    "slow_close": ({"delay": 1_000}, by_all("sends", "ok")),
    "timeout": ({"timeout": 300}, BROKEN),
    "reset_peer": ({"timeout": 0}, BROKEN),
    "slicer": ({"average_size": 16, "size_variation": 8, "delay": 100}, by_all("sends", "ok")),
    "limit_data": ({"bytes": 200}, BROKEN),
}


@pytest.fixture(scope="module")
def toxiproxy(cluster: Cluster) -> Iterator[ToxiproxyServer]:
    with running_toxiproxy() as server:
        yield server


@pytest.fixture(scope="module")
def clients(
    cluster: Cluster, toxiproxy: ToxiproxyServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Activities]:
    via = toxiproxy.in_front_of(*(broker.address for broker in cluster.brokers.values()))
    with (
        Doorkeeper(tmp_path_factory.mktemp("toxiproxy"), cluster, via=via) as doorkeeper,
        all_clients(cluster.way, dict.fromkeys(CLIENTS, doorkeeper.way)) as activities,
    ):
        yield activities


@pytest.mark.parametrize("kind", TOXICS)
def test_clients_see_a_toxic_and_go_on_after_it(kind: str, clients: Activities, toxiproxy: ToxiproxyServer) -> None:
    attributes, wanted = TOXICS[kind]
    clients.settle()
    moments = clients.moments()
    with toxiproxy.toxic(kind, **attributes):
        clients.see(wanted.activity, wanted.seen, moments)
    clients.settle()
