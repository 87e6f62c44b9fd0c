"""States: the states that plugins take at run time, and their answers to queries, in one worker.

Rules:
* A state or a query goes to all plugins of a name: there is one in front of each cluster.
* A state is prepared in a thread. Then it is put in force in all of them at once, between two frames. Filters are then
  brought up to date with what the plugins want to read. Links ask anew which requests may pass.
* Plugins answer queries in a thread too, so that no connection waits for one.
* The last state is kept for plugins that are made later. No configuration comes in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import trio

from proxy.config.plugins import unique_names
from proxy.core.failure import FAILURES, raised_at
from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.net.hosted import HostedPlugin
from proxy.net.thread_work import CALLS
from proxy.net.worker_parts import WorkerParts


class PreparedState(NamedTuple):
    """The steps that put a prepared state in force."""

    plugin: str
    state: Any
    steps: Sequence[Callable[[], None]]


class WorkerStates:
    """The states of one worker, which may be the only one.

    `keep_up` brings filters up to date with what plugins want to read. `applying` is held while a configuration
    changes.
    """

    def __init__(
        self,
        worker: WorkerParts,
        applying: trio.Lock,
        keep_up: Callable[[], Awaitable[None]],
    ) -> None:
        self._worker = worker
        self._host = worker.host
        self._applying = applying
        self._keep_up = keep_up

    def of(self, plugin: str) -> Any:
        """The state that plugins of this name took last. None: none yet."""
        return self._host.states.get(plugin)

    async def change(self, plugin: str, state: Any) -> None:
        """Have the plugins take a state. Raises StateError, NoPluginError or NotTakenError."""
        async with self._applying:
            self._put(await self.prepare(plugin, state))
        await self._keep_up()

    async def prepare(self, plugin: str, state: Any) -> PreparedState:
        """Have the plugins prepare a state. Raises StateError, NoPluginError, or NotTakenError if a plugin failed."""
        steps = [
            await trio.to_thread.run_sync(_prepare, hosted, state, limiter=CALLS) for hosted in self._named(plugin)
        ]
        return PreparedState(plugin, state, steps)

    async def put(self, prepared: PreparedState) -> None:
        """Put a prepared state in force."""
        self._put(prepared)
        await self._keep_up()

    def _put(self, prepared: PreparedState) -> None:
        self._host.states[prepared.plugin] = prepared.state
        self._host.clock.now = trio.current_time()  # durations count from now, even if no link has woken up for a while
        self._worker.forget()
        for step in prepared.steps:
            step()

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        """The answers of the plugins of this name, one for each cluster. Raises NoPluginError."""
        answers = [
            await trio.to_thread.run_sync(hosted.plugin.query, question, said, limiter=CALLS)
            for hosted in self._named(plugin)
        ]
        return {self._host.worker: answers}

    def _named(self, plugin: str) -> list[HostedPlugin]:
        snapshot = self._worker.snapshot
        if plugin not in unique_names(snapshot.config.plugins):
            raise NoPluginError(plugin)
        return [hosted for hosted in snapshot.hosted if hosted.name == plugin]


def _prepare(hosted: HostedPlugin, state: Any) -> Callable[[], None]:
    try:
        return hosted.plugin.prepare_state(state)
    except StateError:
        raise
    except FAILURES as error:  # a bug of the plugin: the state is refused
        failure = f"{type(error).__name__}: {error}, at {raised_at(error)}"
        raise NotTakenError(f'plugin "{hosted.name}" failed: {failure}') from None
