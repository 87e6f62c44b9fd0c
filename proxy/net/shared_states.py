"""Shared states: the states and answers of plugins in several workers, as the supervisor handles them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from proxy.config.plugins import unique_names
from proxy.core.state import NoPluginError, NotTakenError
from proxy.net.agreement import Agreement
from proxy.net.child import Child
from proxy.net.process import StartError


class SharedStates:
    """The plugins' states in all workers."""

    def __init__(self, agreement: Agreement) -> None:
        self._agreement = agreement

    def of(self, plugin: str) -> Any:
        """The state that plugins of this name took last. None: none yet."""
        return self._agreement.settings.states.get(plugin)

    async def change(self, plugin: str, state: Any) -> None:
        """Have the plugins take a state. Raises StateError, NoPluginError or NotTakenError."""
        self._check(plugin)
        try:
            await self._agreement.take_state(plugin, state)
        except StartError as error:
            raise NotTakenError(*error.reasons) from None

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        """The answers of the plugins of this name, by worker, of workers that answer at all. Raises NoPluginError."""
        self._check(plugin)
        return await self._gather({"plugin": plugin, "question": question, "said": said})

    async def connections(self, limit: int) -> list[Any]:
        """The open connections of each worker."""
        gathered = await self._gather({"connections": limit})
        return [it for each in gathered.values() for it in each]

    async def _gather(self, asked: Mapping[str, Any]) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}

        async def ask(worker: int, child: Child) -> None:
            answers = await child.query(asked)
            if answers is not None:
                found[worker] = answers

        async with trio.open_nursery() as nursery:
            for worker, child in self._agreement.children.items():
                nursery.start_soon(ask, worker, child)
        return dict(sorted(found.items()))

    def _check(self, plugin: str) -> None:
        if plugin not in unique_names(self._agreement.settings.config.plugins):
            raise NoPluginError(plugin)
