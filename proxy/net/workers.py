"""Workers: several processes on the same ports. Each is a gateway of its own. A worker that dies is replaced.

Rules:
* A worker that cannot start, and says why, ends the proxy. So do five deaths in a row before a worker was ready.
* A worker that dies later is replaced: at once if it had served for a while, otherwise after 0.5 s, 1 s, ... 30 s.
* A worker ends with its supervisor, however that ended, because the channel between them closes.
* Brokers that one worker learns of are told to all (`learned_brokers.py`).
* A change at run time is taken by all of them or by none (`agreement.py`).
* A worker that replaces one has the same files in force, even if they are broken on the disk by then (`keeping.py`).
* A worker that cannot be started for want of memory or descriptors counts as one that died. The line says so.
"""

from __future__ import annotations

import signal
import socket
from dataclasses import replace
from functools import partial
from typing import IO, Any

import structlog
import trio

from proxy.config import Config
from proxy.core.backoff import backoff
from proxy.net.agreement import Agreement
from proxy.net.channel import Lines, Settings
from proxy.net.child import Child
from proxy.net.keeping import KeptFiles
from proxy.net.learned_brokers import LearnedBrokers
from proxy.net.machine import allow_open_files
from proxy.net.process import CANNOT_START, DONE, DrainResult, Started, StartError
from proxy.net.shared_rows import shared_file
from proxy.net.shared_states import SharedStates
from proxy.net.tasks import Tasks
from proxy.net.worker_process import GRACE, how_it_ended, kill, start_worker
from proxy.telemetry.report import Reports
from proxy.text.scarce import scarcity

log = structlog.get_logger()

STEADY = 10.0  # a worker that served for so many seconds is replaced at once
FIRST_PAUSE = 0.5
LAST_PAUSE = 30.0
MOST_DEATHS = 5  # in a row, before the worker was ever ready
NOT_BEGUN = -signal.SIGTERM  # the exit code of a worker that was told to end before it served


class Workers:
    """All workers of one proxy."""

    def __init__(self, settings: Settings, tasks: Tasks) -> None:
        self._tasks = tasks
        self._children: dict[int, Child] = {}
        self._ready: set[int] = set()  # workers that have been ready
        self._started: Started = lambda report: None
        self._learned = LearnedBrokers(self._children, lambda: self.config)
        self._kept = KeptFiles()
        self._stopping = trio.Event()
        self._agreement = Agreement(settings, self._children, self._stopping)
        self._shared: IO[bytes]  # a file of numbers that they count together
        self.dead = 0  # workers that died and are replaced
        self.ending = DrainResult("workers")
        self.states = SharedStates(self._agreement)

    @property
    def _settings(self) -> Settings:
        return self._agreement.settings

    @property
    def config(self) -> Config:
        """The configuration that is in force."""
        return self._settings.config

    @property
    def taken(self) -> frozenset[str]:
        """The listeners whose ports are not opened, since somebody else has them."""
        return self._settings.taken

    async def free(self, listener: str) -> None:
        """Open the ports of this listener in all workers."""
        await self._agreement.free(listener)

    async def apply(self, config: Config) -> None:
        """Put a configuration in force in all workers. If it raises StartError, nothing has changed."""
        await self._agreement.configure(config)
        allow_open_files(config.limits)  # workers that start from now on inherit it
        self._learned.forget_gone()
        self._announce()

    async def run(self, started: Started) -> None:
        """Keep the workers running until `stop`. Raises StartError, in a group."""
        self._started = started
        with shared_file() as self._shared:
            async with trio.open_nursery() as around:
                around.start_soon(self._insist)
                async with trio.open_nursery() as nursery:
                    for worker in range(self._settings.config.workers):
                        nursery.start_soon(self._keep, worker)
                around.cancel_scope.cancel()

    async def _insist(self) -> None:
        """Kill workers that hang, so that the proxy can end."""
        await self._stopping.wait()
        await trio.sleep(self._settings.config.limits.drain + GRACE)
        for worker, child in self._children.items():
            kill(worker, child.process)

    def stop(self) -> None:
        """Tell all workers to end."""
        self._stopping.set()
        self.ending.there = len(self._children)
        for child in self._children.values():
            child.process.terminate()

    def cut(self) -> None:
        """Count the workers that are still there. They are told to end at once next."""
        self.ending.cut += len(self._children)

    async def reports(self) -> Reports:
        """The reports of all workers."""
        found: Reports = {}

        async def ask(worker: int, child: Child) -> None:
            found[worker] = await child.report()

        async with trio.open_nursery() as nursery:
            for worker, child in sorted(self._children.items()):
                nursery.start_soon(ask, worker, child)
        return dict(sorted(found.items()))

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """The open connections of each worker."""
        return await self.states.connections(limit)

    def _announce(self) -> None:
        """Report the listeners that are open in all workers."""
        reports = [child.ready for child in self._children.values() if child.ready is not None]
        if len(reports) == self._settings.config.workers:
            common = set.intersection(*(set(report.listening) for report in reports))
            listening = {name: ports for name, ports in reports[0].listening.items() if name in common}
            self._started(replace(reports[0], listening=listening))

    async def _keep(self, worker: int) -> None:
        deaths = 0
        while True:
            began = trio.current_time()
            code = scarce = None
            with self._tasks.contained("running a worker", worker=worker):
                try:
                    code = await self._live(worker)
                except (OSError, ExceptionGroup) as error:
                    if (scarce := scarcity(error)) is None:
                        raise
            if self._stopping.is_set():
                self.ending.cut += code not in (DONE, NOT_BEGUN)
                return
            lived = trio.current_time() - began
            was_ready = worker in self._ready
            deaths = 1 if was_ready and lived >= STEADY else deaths + 1
            if code == CANNOT_START and not was_ready:
                raise StartError  # the worker has logged the reason
            why = how_it_ended(code, scarce)
            if deaths >= MOST_DEATHS and not was_ready:
                raise StartError(f"worker {worker} died {deaths} times before it was ready; the last one {why}")
            pause = 0.0 if lived >= STEADY else backoff(FIRST_PAUSE, LAST_PAUSE, deaths)
            self.dead += 1
            log.error("worker died", worker=worker, why=why, replaced_in=f"{pause:g}s")
            with trio.move_on_after(pause):
                await self._stopping.wait()
                return

    def _welcome(self, worker: int) -> None:
        """A worker serves its first cluster, or one more. Tell it what others learned before."""
        self._ready.add(worker)
        self._learned.tell(worker)
        self._announce()

    async def _live(self, worker: int) -> int:
        """One life of a worker, from its start to its exit code."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            async with trio.open_nursery() as nursery:
                process = await start_worker(nursery, worker, theirs.fileno(), self._shared.fileno())
                theirs.close()
                settings = self._settings
                child = self._children[worker] = Child(process, Lines(ours), self._tasks, settings)
                ready, learned = partial(self._welcome, worker), partial(self._learned.spread, worker)
                nursery.start_soon(child.listen, ready, learned, self._kept)
                if self._stopping.is_set():
                    process.terminate()
                try:
                    await child.lines.send_settings(replace(settings, worker=worker, files=self._kept.contents))
                    child.told.set()
                    nursery.start_soon(self._tasks.keep, "telling of brokers", child.outbox.run)
                    code = await process.wait()
                finally:
                    del self._children[worker]
                nursery.cancel_scope.cancel()
        return code
