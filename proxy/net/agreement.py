"""Agreement: a change is taken by all workers or by none. It is a configuration, or a state of a plugin.

Rules:
* All workers prepare the change first. If one of them says that it cannot be, it is refused in all, and nothing
  changes. Otherwise all take it, and so does every worker that starts from then on.
* If a worker lacks descriptors or memory to prepare it, nothing changes either, and the caller may try again.
* A worker that does not answer, or fails at what it had prepared, is replaced. So a hanging one blocks no change.
* Changes come one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog
import trio

from proxy.config import Config
from proxy.core.state import StateError
from proxy.net.channel import Settings, written
from proxy.net.child import Child, Preparation
from proxy.net.process import ENDING, StartError

log = structlog.get_logger()


class Agreement:
    """The settings of all workers. `children` has these by number. No change begins after `stopping`."""

    def __init__(self, settings: Settings, children: Mapping[int, Child], stopping: trio.Event) -> None:
        self.settings = settings
        self.children = children
        self._stopping = stopping
        self._applying = trio.Lock()
        self._number = 0  # the number of the last change

    async def configure(self, config: Config) -> None:
        """Have all workers take a configuration. On StartError nothing has changed, unless the proxy is ending."""
        async with self._applying:
            await self._change(replace(self.settings, config=config), {"config": written(config)})
            if self._stopping.is_set():
                raise StartError(ENDING)

    async def free(self, listener: str) -> None:
        """Have all workers open the ports of this listener, which nobody else has any more."""
        async with self._applying:
            self.settings = replace(self.settings, taken=self.settings.taken - {listener})
            async with trio.open_nursery() as nursery:
                for child in self.children.values():
                    nursery.start_soon(child.free, listener)

    async def take_state(self, plugin: str, state: Any) -> None:
        """Have the plugins of this name take a state in all workers. On StateError or StartError nothing changed."""
        async with self._applying:
            settings = replace(self.settings, states={**self.settings.states, plugin: state})
            await self._change(settings, {"plugin": plugin, "state": state})

    async def _change(self, settings: Settings, change: Mapping[str, Any]) -> None:
        """Have all workers take a change, with which these become their settings."""
        self._number += 1
        asked = await self._prepare(change)
        if "state" in change and not any(asked.values()):
            raise StartError("no worker is there to take it")  # nobody can check the state
        self.settings = settings
        async with trio.open_nursery() as nursery:
            for worker, child in self.children.items():
                if child.settings is not settings:
                    nursery.start_soon(self._take, worker, child, change, asked.get(child))

    async def _prepare(self, change: Mapping[str, Any]) -> dict[Child, bool]:
        """Have all workers prepare it. Returns which of them did.

        Raises StartError or StateError with all reasons, and OSError if a worker has no descriptors or memory for it.
        """
        said: dict[Child, Preparation | None] = {}

        async def ask(child: Child) -> None:
            said[child] = await child.prepare(self._number, change)

        async with trio.open_nursery() as nursery:
            for child in self.children.values():
                nursery.start_soon(ask, child)
        prepared = [preparation for preparation in said.values() if preparation is not None]
        reasons = dict.fromkeys(reason for preparation in prepared for reason in preparation.problems)
        findings = dict.fromkeys(finding for preparation in prepared for finding in preparation.findings)
        scarce = next((preparation.scarce for preparation in prepared if preparation.scarce), None)
        if self._stopping.is_set():
            reasons[ENDING] = None
        if reasons or findings or scarce:
            for child in (child for child, preparation in said.items() if preparation is not None):
                await child.lines.send({"forget": self._number})
            if reasons or findings:
                raise StartError(*reasons) if reasons else StateError(findings)
            raise OSError(scarce, os.strerror(scarce or 0))
        return {child: preparation is not None for child, preparation in said.items()}

    async def _take(self, worker: int, child: Child, change: Mapping[str, Any], is_prepared: bool | None) -> None:
        """Have a worker take what it prepared, or replace the worker. None: it was not there to prepare it."""
        if is_prepared is None:
            is_prepared = await child.prepare(self._number, change) == Preparation([], [])
        if is_prepared and await child.take(self._number, self.settings):
            return
        if not self._stopping.is_set() and self.children.get(worker) is child:
            log.error("worker replaced", worker=worker, why="it did not take a change")
            child.process.kill()
