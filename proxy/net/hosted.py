"""Hosted: one plugin as it runs in front of one cluster, with the services that the worker provides to it.

Rules:
* Plugins are made here and nowhere else.
* Repeated work of a plugin runs in a thread of its own, one piece of work at a time. A piece that fails is logged and
  counted, and is run again.
* A plugin that starts when the proxy ends has a few seconds to finish, and is then stopped as any other: what it began
  in its start is not left half done. One that hangs is left.
* A plugin's log lines are rate-limited as all lines that clients can cause. In the thread of the links, a line that
  cannot be written raises where it is logged. From another thread, it is a failed task.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from random import Random
from typing import Any, TypeVar

import structlog
import trio

from proxy.config.plugins import PluginUse
from proxy.core.context import Connection
from proxy.core.failure import raised_at
from proxy.core.fetch_topics import FetchTopics
from proxy.core.plugin import Plugin
from proxy.core.services import LogLevel, PluginError, Services, check_repeated
from proxy.logs.cut import short
from proxy.net.plugin_host import HostedClock, PluginHost
from proxy.net.process import StartError
from proxy.net.topic_writing import ClusterTopicWriter
from proxy.text.problems import BadFileError
from proxy.text.watched import WatchedFile, no_warnings

log = structlog.get_logger()

SLOW = 10.0  # seconds after which a plugin that starts is said to hang
LAST_WAIT = 4.0  # seconds for which a plugin may go on starting when the proxy ends
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
        services = Services(
            self.name,
            cluster,
            host.worker,
            host.instance,
            HostedClock(host.clock, host.offset),
            Random(f"{host.instance} {cluster} {self.name}"),
            host.counters.of(use.name, self.name),
            self._tell,
            self._every,
            self._watch,
            host.topics[cluster],
            FetchTopics(self.name),
            host.table.of(f"{cluster} {self.name}"),
            self._topic,
            host.states.get(self.name),
        )
        with self._beginning():
            self.plugin: Plugin = use.plugin(use.options, services)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the plugin, run its repeated work until cancelled, and stop it. Raises StartError."""
        plugin, contained = self.plugin, self._host.tasks.contained
        try:
            with self._beginning():
                await self._start()
            task_status.started()
            async with trio.open_nursery() as nursery:
                for seconds, work in self._works:
                    nursery.start_soon(self._repeat, seconds, work)
                try:
                    await trio.sleep_forever()
                finally:
                    self._end_writes()  # before work under way is waited for
        finally:
            if self._is_started:
                self._end_writes()
                with trio.CancelScope(shield=True), contained("stopping a plugin", plugin=self.name):
                    await trio.to_thread.run_sync(plugin.stop)
                    for writer in self._topics:
                        await writer.close()

    def _end_writes(self) -> None:
        for writer in self._topics:
            writer.end()

    async def _start(self) -> None:
        """Start the plugin. One that hangs is said, and does not keep the proxy from ending."""
        failed: Exception | None = None
        async with trio.open_nursery() as nursery:
            with trio.CancelScope(shield=True) as waiting:
                nursery.start_soon(self._watch_start, waiting)
                try:
                    await trio.to_thread.run_sync(self.plugin.start, abandon_on_cancel=True)
                    self._is_started = True
                except Exception as error:  # beside the nursery, which would put it into a group
                    failed = error
            if waiting.cancelled_caught:
                why = f"the proxy ends, and its start goes on for more than {LAST_WAIT:g} s"
                log.warning("plugin left while it started", plugin=self.name, cluster=self._cluster, why=why)
            nursery.cancel_scope.cancel()
        if failed is not None:
            raise failed

    async def _watch_start(self, waiting: trio.CancelScope) -> None:
        """Say if a plugin starts slowly. When the proxy ends, the start is waited for a little longer."""
        try:
            await trio.sleep(SLOW)
            why = f"its start has taken {SLOW:g} s, and is waited for"
            log.warning("plugin not started yet", plugin=self.name, cluster=self._cluster, why=why)
            await trio.sleep_forever()
        finally:
            waiting.deadline = trio.current_time() + LAST_WAIT

    def replaced(self) -> None:
        """Tell the plugin that another configuration came, in which it is not."""
        with self._host.tasks.contained("telling a plugin that it was replaced", plugin=self.name):
            self.plugin.replaced()

    @contextmanager
    def _beginning(self) -> Iterator[None]:
        try:
            yield
        except BadFileError as error:  # it names the place itself
            raise StartError(str(error)) from None
        except PluginError as error:
            raise StartError(f'plugin "{self.name}": {error}') from None
        except Exception as error:  # a bug of the plugin prevents the proxy's start, or another configuration
            failure = f"{type(error).__name__}: {error}, at {raised_at(error)}"
            raise StartError(f'plugin "{self.name}" failed: {failure}; leave it out, or mend it') from None

    async def _repeat(self, seconds: float, work: Callable[[], object]) -> None:
        own = trio.CapacityLimiter(1)  # not one of trio's shared threads, so it neither waits for them nor uses one up
        while True:
            await trio.sleep(seconds)
            with self._host.tasks.contained("work of a plugin", plugin=self.name):
                await trio.to_thread.run_sync(work, limiter=own)

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

    def _tell(
        self,
        event: str,
        connection: Connection | None = None,
        *,
        level: LogLevel = "info",
        about: Hashable = None,
        example: Hashable = None,
        **facts: object,
    ) -> None:
        if threading.get_ident() != self._host.thread:
            again = partial(self._tell, event, connection, level=level, about=about, example=example, **facts)
            self._host.trio.run_sync_soon(self._contained, again)
            return
        who = None if connection is None else (connection.listener, connection.whose)
        left_out = self._host.complaints.due(event, (self.name, who, about), example)
        if left_out is not None:
            known = {} if connection is None else connection.facts()
            getattr(log, level)(event, **short({"plugin": self.name, **facts, **known}), **left_out)

    def _contained(self, line: Callable[[], None]) -> None:
        with self._host.tasks.contained("a line of a plugin", plugin=self.name):
            line()
