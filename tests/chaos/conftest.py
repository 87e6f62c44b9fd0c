"""Fixtures: a mock cluster, and a separate environment with Doorkeeper installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.strangers import Stranger, installed
from tests.mock_brokers import mock_brokers


@pytest.fixture(scope="session")
def mock_cluster() -> Iterator[str]:
    """Three brokers; gives the address of one."""
    with mock_brokers(3) as broker:
        yield broker


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """An environment with Doorkeeper from this clone, installed from its wheel."""
    return installed(tmp_path_factory.mktemp("stranger"))
