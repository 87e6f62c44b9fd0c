"""Taken ports: the log lines about ports that another process has, with the name of that process.

Rules:
* The process is looked for in a thread, since that takes long (`port_owners.py`), and a broker that names node ids
  whose ports are taken can cause it. All lines that wait are written after one look.
* Two looks are at least 5 seconds apart, however many ports are taken. The number of lines is limited by complaints.
"""

from __future__ import annotations

import structlog
import trio

from proxy.logs.cut import short
from proxy.net.bind import PortTakenError
from proxy.net.port_owners import owners

log = structlog.get_logger()

APART = 5.0  # seconds between two looks


class TakenPorts:
    """The lines of one worker."""

    def __init__(self) -> None:
        self._waiting: list[tuple[PortTakenError, str, dict[str, object]]] = []
        self._some = trio.Event()

    def tell(self, error: PortTakenError, event: str, /, **facts: object) -> None:
        """Write this line soon, with the reason as its field `why`."""
        self._waiting.append((error, event, facts))
        self._some.set()

    async def watch(self) -> None:
        """Write the lines, until cancelled."""
        while True:
            await self._some.wait()
            self._some = trio.Event()
            told, self._waiting = self._waiting, []
            found = await trio.to_thread.run_sync(owners, {error.port for error, _, _ in told})
            for error, event, facts in told:
                log.error(event, **short({"why": error.by(found[error.port])}), **facts)
            await trio.sleep(APART)
