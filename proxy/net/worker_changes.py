"""Worker changes: a worker prepares and takes the changes that its supervisor sends (`agreement.py`).

Rules:
* A change is another configuration, or a state of a plugin.
* The supervisor sends the next change when the last was answered, or after a timeout. A change that was prepared too
  late is never mentioned again. It is dropped when the next one is prepared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.net.channel import Lines, NonsenseError, read
from proxy.net.gateway import Gateway
from proxy.net.process import StartError
from proxy.text.scarce import is_scarce


class PreparedChange(NamedTuple):
    """How to put a prepared change in force, and how to drop it."""

    put: Callable[[], Awaitable[None]]
    forget: Callable[[], None]


class WorkerChanges:
    """Carries out the changes that the supervisor sends."""

    def __init__(self, gateway: Gateway, lines: Lines) -> None:
        self._gateway = gateway
        self._lines = lines
        self._prepared: dict[int, PreparedChange] = {}
        self._newest = 0

    async def hear(self, line: dict[str, Any]) -> None:
        """Carry out a line of the supervisor, and answer it."""
        match line:
            case {"prepare": number}:
                await self._lines.send({"prepared": number, **await self._prepare(number, line)})
            case {"take": number}:
                report = None
                with self._gateway.tasks.contained("putting a change in force"), suppress(StartError):
                    await self._prepared.pop(number).put()
                    report = self._gateway.report().as_json()
                await self._lines.send({"taken": number, "report": report})
            case {"forget": number} if number in self._prepared:
                self._prepared.pop(number).forget()

    async def _prepare(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        """Prepare a change. Returns its problems, of which there may be none."""
        problems, findings, scarce = ["a worker could not prepare it; its log says why"], [], None
        self._newest = number
        with self._gateway.tasks.contained("preparing a change"):
            try:
                self._prepared[number] = await self._made(line)
                for late in [each for each in self._prepared if each < self._newest]:
                    self._prepared.pop(late).forget()
                problems = []
            except (StartError, NotTakenError) as error:
                problems = list(error.reasons)
            except NoPluginError as error:
                problems = [str(error)]
            except StateError as error:
                problems, findings = [], [(finding.path, finding.message) for finding in error.findings]
            except OSError as error:
                if not is_scarce(error):
                    raise
                problems, scarce = [], error.errno
        return {"problems": problems, "findings": findings, "scarce": scarce}

    async def _made(self, line: dict[str, Any]) -> PreparedChange:
        gateway = self._gateway
        match line:
            case {"config": config}:
                snapshot = await gateway.prepare(read(config))
                return PreparedChange(partial(gateway.put, snapshot), partial(gateway.forget, snapshot))
            case {"plugin": plugin, "state": state}:
                prepared = await gateway.states.prepare(plugin, state)
                return PreparedChange(partial(gateway.states.put, prepared), lambda: None)
        raise NonsenseError("a line says to prepare nothing that there is")
