"""Applying: one configuration after the other is put in force while everything goes on.

Rules:
* One is prepared and put in force, or refused, before another is looked at.
* What a plugin wants to read may depend on its files. The configuration in force is then applied again; one that comes
  meanwhile is not undone by that.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from proxy.config import Config
from proxy.net.changing import Changing
from proxy.net.process import StartError
from proxy.net.serving import Worker


class Applying:
    """On one worker. `lock` is held while anything changes what is in force, or what plugins keep."""

    def __init__(self, worker: Worker, changing: Changing) -> None:
        self.lock = trio.Lock()
        self._worker = worker
        self._changing = changing

    async def apply(self, config: Config) -> None:
        """Put this configuration in force. Raises StartError, and nothing changed."""
        async with self.lock:
            await self._changing.put(await self._changing.prepare(config))

    async def keep_up(self) -> None:
        """Apply the configuration in force again, where a plugin wants to read something else."""
        if not self._worker.snapshot.is_outdated:
            return
        with self._worker.tasks.contained("reading what plugins want to read now"), suppress(StartError):  # it ends
            async with self.lock:
                before = self._worker.snapshot
                again = await self._changing.prepare(before.config)
                if self._worker.snapshot is before:
                    await self._changing.put(again)
                else:
                    self._changing.forget(again)
