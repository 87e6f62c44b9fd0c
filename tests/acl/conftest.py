"""What the scenarios are played on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.acl.load import Scenario, load
from tests.acl.nodes import Node
from tests.acl.proxied import users
from tests.acl.sides import Sides


class Worlds:
    """Clusters and Doorkeeper for the scenarios of each kind; those that nobody asks for are never started."""

    def __init__(self, folder: Path, scenarios: list[Scenario], stack: ExitStack) -> None:
        self._folder, self._scenarios, self._stack = folder, scenarios, stack
        self.sides = cache(self._sides)

    def _sides(self, unmatched: str) -> Sides:
        some = [each for each in self._scenarios if each.unmatched == unmatched]
        folder = self._folder / unmatched
        return self._stack.enter_context(Sides(folder, some, Node(folder / "open", users(some))))


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """Started once, with what all scenarios are given."""
    with ExitStack() as stack:
        yield Worlds(tmp_path_factory.mktemp("acl"), load(), stack)


@pytest.fixture(scope="session")
def sides(worlds: Worlds) -> Sides:
    """Where nothing is allowed that no rule allows."""
    return worlds.sides("deny")
