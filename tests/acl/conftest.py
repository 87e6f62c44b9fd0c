"""The clusters and proxies that scenarios are played on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.acl.everybody import everybody
from tests.acl.load import Scenario
from tests.acl.nodes import Node
from tests.acl.proxied import users
from tests.acl.sides import Sides


class Worlds:
    """Clusters and Doorkeeper for the scenarios of each kind, started on first use.

    All kinds share the broker without an authorizer.
    """

    def __init__(self, folder: Path, scenarios: Sequence[Scenario], stack: ExitStack) -> None:
        self._folder, self._scenarios, self._stack = folder, scenarios, stack
        self._behind = Node(folder / "open", users(scenarios))
        self.sides = cache(self._sides)
        self._ready = cache(lambda: stack.enter_context(self._behind))

    def _sides(self, unmatched: str) -> Sides:
        some = [each for each in self._scenarios if each.unmatched == unmatched]
        sides = Sides(self._folder / unmatched, some, self._behind)
        self._ready()  # the node with the authorizer starts meanwhile
        return self._stack.enter_context(sides)


@pytest.fixture(scope="package")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """The worlds of this folder, shared by all its tests, with the topics and rules of all scenarios."""
    with ExitStack() as stack:
        yield Worlds(tmp_path_factory.mktemp("acl"), everybody(), stack)


@pytest.fixture(scope="package")
def sides(worlds: Worlds) -> Sides:
    """The sides that deny everything that no rule allows."""
    return worlds.sides("deny")
