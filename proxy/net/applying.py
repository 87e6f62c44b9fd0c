"""Applying: puts one configuration after another in force without a break.

Rules:
* A configuration is prepared and put in force, or refused, before the next one is looked at.
* Which requests a plugin reads may depend on its files. When that changes, the configuration in force is applied again.
  This does not undo a configuration that comes meanwhile.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from proxy.config import Config
from proxy.net.changing import Changing
from proxy.net.process import StartError
from proxy.net.worker_parts import WorkerParts


class Applying:
    """Applies configurations on one worker. `lock` is held during any change of the snapshot or of plugins' states."""

    def __init__(self, worker: WorkerParts, changing: Changing) -> None:
        self.lock = trio.Lock()
        self._worker = worker
        self._changing = changing

    async def apply(self, config: Config) -> None:
        """Put this configuration in force. If it raises StartError, nothing has changed."""
        async with self.lock:
            await self._changing.put(await self._changing.prepare(config))

    async def keep_up(self) -> None:
        """Apply the configuration in force again, if a plugin now wants to read other requests or responses."""
        if not self._worker.snapshot.is_outdated:
            return
        with self._worker.tasks.contained("reading what plugins want to read now"), suppress(StartError):  # proxy ends
            async with self.lock:
                before = self._worker.snapshot
                await self._changing.put(await self._changing.prepare(before.config), instead_of=before)
