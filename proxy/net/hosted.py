"""Hosted: one plugin as it runs in front of one cluster, with the services that the worker provides to it.

Rules:
* Plugins are made here and nowhere else.
* Repeated work of a plugin runs in a thread of its own, one piece of work at a time. A piece that fails is logged and
  counted, and is run again.
* A plugin starts and stops in threads of its own too. Starts that hang use up none of the shared threads. When very
  many stop at once, their last writes to topics still find one of these.
* When it is to end, a plugin has limited time to finish its start or its work and to stop: what it began is not left
  half done, and one that hangs is left. If the proxy is to end at once, that time is short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from os import PathLike
from random import Random
from typing import Any, TypeVar

import structlog
import trio

from proxy.config.plugins import PluginUse
from proxy.core.fetch_topics import FetchTopics
from proxy.core.plugin import Plugin
from proxy.core.services import Services, check_repeated
from proxy.net.plugin_host import HostedClock, PluginHost
from proxy.net.plugin_lines import PluginLines
from proxy.net.plugin_start import SLOW, PluginStart, reasons
from proxy.net.tasks import Contained
from proxy.net.thread_work import ThreadWork, watched
from proxy.net.topic_writing import ClusterTopicWriter
from proxy.text.watched import WatchedFile, no_warnings

log = structlog.get_logger()

LAST_WAIT = 30.0  # seconds in which a plugin must finish when it is to end
WAY_OUT = "the rest goes on; please report this line to the author of the plugin"
HANGS = f"if it hangs, end the proxy, which waits for {LAST_WAIT:g} s at most, and start it without the plugin"
T = TypeVar("T")


class HostedPlugin:
    """`plugin`, made from its entry in the configuration. Raises StartError if the plugin refuses to start."""

    def __init__(self, use: PluginUse, cluster: str, host: PluginHost, name: str | None = None) -> None:
        self.use = use
        self.name = name or use.name
        self._host = host
        self.watched: list[tuple[str, WatchedFile[Any]]] = []  # what each file holds, and the file
        self._works: list[tuple[float, Callable[[], object]]] = []
        self._cluster = cluster
        self._topics: list[ClusterTopicWriter] = []
        self._is_started = False
        self._threads = ThreadWork()
        services = Services(
            self.name,
            cluster,
            host.worker,
            host.instance,
            HostedClock(host.clock, host.offset),
            Random(f"{host.instance} {cluster} {self.name}"),
            host.counters.of(use.name, self.name),
            PluginLines(host, cluster, self.name).tell,
            self._every,
            self._watch,
            host.topics[cluster],
            FetchTopics(self.name),
            host.table.of(f"{cluster} {self.name}"),
            self._topic,
            host.states.get(self.name),
        )
        with reasons(self.name):
            self.plugin: Plugin = use.plugin(use.options, services)

    async def run(self, until: float = inf, task_status: trio.TaskStatus[bool] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the plugin, run its repeated work until cancelled, and stop it. Raises StartError.

        `until`: the time, by trio's clock, at which its start is given up. `task_status` gets whether it has started.
        """
        self._host.threads.add(self._threads)
        start = PluginStart(self.name, self._cluster, until, task_status)
        try:
            with start.failing():
                await watched(partial(self._watch_start, start), self._start)
            if start.is_given_up:
                return
            task_status.started(True)
            async with trio.open_nursery() as nursery:
                for seconds, work in self._works:
                    nursery.start_soon(self._repeat, seconds, work)
                try:
                    await trio.sleep_forever()
                finally:
                    self._end()  # before work under way is waited for
        finally:
            if self._is_started:
                self._end()
                with self._contained("stopping a plugin"), trio.CancelScope(shield=True):
                    await watched(self._watch_stop, self._stop)
                    for writer in self._topics:
                        await writer.close()
            self._host.threads.discard(self._threads)

    def _contained(self, task: str) -> Contained:
        """What the plugin's own code raises in here goes no further."""
        return self._host.tasks.contained(task, plugin=self.name, way_out=WAY_OUT)

    def _end(self) -> None:
        self._threads.hurry(LAST_WAIT)
        for writer in self._topics:
            writer.end()

    async def _finish(self, what: str, work: Callable[[], object], limiter: trio.CapacityLimiter | None = None) -> None:
        if not await self._threads.finish(work, limiter):
            why = "it did not come to its end in time, and is no longer waited for"
            log.warning(f"plugin left while it {what}", plugin=self.name, cluster=self._cluster, why=why)

    async def _start(self) -> None:
        await self._finish("started", self._begin, trio.CapacityLimiter(1))

    def _begin(self) -> None:
        self.plugin.start()
        self._is_started = True

    async def _stop(self) -> None:
        await self._finish("stopped", self.plugin.stop, trio.CapacityLimiter(1))

    async def _watch_start(self, start: PluginStart) -> None:
        """Watch the start. If it is cancelled meanwhile, its time is limited."""
        try:
            await start.watch(HANGS)
        finally:
            if not self._is_started:
                self._threads.hurry(LAST_WAIT)

    async def _watch_stop(self) -> None:
        await trio.sleep(SLOW)
        why = f"its stop has taken {SLOW:g} s, and is waited for"
        log.warning("plugin not stopped yet", plugin=self.name, cluster=self._cluster, why=why, way_out=HANGS)

    def replaced(self) -> None:
        """Tell the plugin that another configuration came, in which it is not."""
        with self._contained("telling a plugin that it was replaced"):
            self.plugin.replaced()

    async def _repeat(self, seconds: float, work: Callable[[], object]) -> None:
        own = trio.CapacityLimiter(1)  # not one of trio's shared threads, so it neither waits for them nor uses one up
        while True:
            await trio.sleep(seconds)
            with self._contained("work of a plugin"):
                await self._finish("worked", work, own)

    def _every(self, seconds: float, work: Callable[[], object]) -> None:
        check_repeated(seconds)
        self._works.append((seconds, work))

    def _watch(
        self,
        what: str,
        file: str | PathLike[str],
        load: Callable[[str], T],
        warnings: Callable[[T], Iterable[object]] = no_warnings,
    ) -> WatchedFile[T]:
        watched = WatchedFile(file, load, warnings)
        self.watched.append((what, watched))
        return watched

    def _topic(self, topic: str, cluster: str | None = None) -> ClusterTopicWriter:
        name = cluster or self._cluster
        writer = ClusterTopicWriter(name, topic, lambda: self._host.upstream(name))
        self._topics.append(writer)
        return writer
