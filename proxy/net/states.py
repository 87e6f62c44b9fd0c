"""States: what plugins take while they run, and what they are asked, in one worker.

Rules:
* What is said to a plugin is said to all plugins of its name: there is one in front of each cluster.
* A state is prepared in a thread. Then it is put in force in all of them at once, between two frames, and what they
  want to read by it is read from then on. What links know of requests that pass is forgotten.
* Plugins answer in a thread, too: no connection waits for a question.
* What was taken last is kept for plugins that are made later. No configuration comes in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import trio

from proxy.config.plugins import unique_names
from proxy.core.failure import raised_at
from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.net.hosted import HostedPlugin
from proxy.net.serving import Worker


class PreparedState(NamedTuple):
    """What puts a state in force."""

    plugin: str
    state: Any
    steps: Sequence[Callable[[], None]]


class WorkerStates:
    """Those of one worker, which may be the only one.

    `keep_up` has read what plugins want to read; `applying` is held while another configuration comes.
    """

    def __init__(
        self,
        worker: Worker,
        applying: trio.Lock,
        keep_up: Callable[[], Awaitable[None]],
    ) -> None:
        self._worker = worker
        self._host = worker.host
        self._applying = applying
        self._keep_up = keep_up

    def of(self, plugin: str) -> Any:
        """What plugins of this name took last; None: nothing yet."""
        return self._host.states.get(plugin)

    async def change(self, plugin: str, state: Any) -> None:
        """Have them take a state. Raises StateError, NoPluginError or NotTakenError."""
        async with self._applying:
            self._put(await self.prepare(plugin, state))
        await self._keep_up()

    async def prepare(self, plugin: str, state: Any) -> PreparedState:
        """Have a state prepared. Raises StateError, NoPluginError, or NotTakenError where a plugin failed."""
        steps = [await trio.to_thread.run_sync(_prepare, hosted, state) for hosted in self._named(plugin)]
        return PreparedState(plugin, state, steps)

    async def put(self, prepared: PreparedState) -> None:
        """Put it in force."""
        self._put(prepared)
        await self._keep_up()

    def _put(self, prepared: PreparedState) -> None:
        self._host.states[prepared.plugin] = prepared.state
        self._host.clock.now = trio.current_time()  # what begins now begins now, though no link woke up for a while
        self._worker.forget()
        for step in prepared.steps:
            step()

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        """What the plugins of this name answer, cluster by cluster. Raises NoPluginError."""
        answers = [await trio.to_thread.run_sync(it.plugin.query, question, said) for it in self._named(plugin)]
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
    except Exception as error:  # a bug of the plugin: it keeps a state out
        failure = f"{type(error).__name__}: {error}, at {raised_at(error)}"
        raise NotTakenError(f'plugin "{hosted.name}" failed: {failure}') from None
