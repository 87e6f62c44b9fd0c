"""What the scenarios are played on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acl.language import load
from tests.acl.sides import Sides


@pytest.fixture(scope="session")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """Both clusters and Doorkeeper, started once, with what all scenarios are given."""
    with Sides(tmp_path_factory.mktemp("acl"), load()) as sides:
        yield sides
