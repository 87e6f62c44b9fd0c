"""One secured cluster, and one Doorkeeper in front of it, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.conftest import PROGRAMS
from tests.real.secured import clients
from tests.real.secured.cluster import PASSWORDS, SecuredCluster
from tests.real.secured.guarding import Guarding, TokenEndpoint


@pytest.fixture(scope="package")
def secured(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[SecuredCluster]:
    """Three brokers, started once."""
    with SecuredCluster(tmp_path_factory.mktemp("secured")) as cluster:
        pytestconfig.stash[PROGRAMS] = lambda: cluster.programs
        cluster.allow(*PASSWORDS, *clients.CLIENTS)
        yield cluster
        clients.close()


@pytest.fixture(scope="package")
def guarding(
    secured: SecuredCluster, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Guarding]:
    """Doorkeeper in front of the secured brokers, in all its ways, started once."""
    with (
        TokenEndpoint() as endpoint,
        Guarding(tmp_path_factory.mktemp("guarding"), secured, endpoint.url) as guarding,
    ):
        pytestconfig.stash[PROGRAMS] = lambda: [*secured.programs, guarding.program]
        yield guarding
