"""Plugin host: the things that all plugins of one worker share, and the clock that plugins are given."""

from __future__ import annotations

import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import trio

from proxy.auth.authority import ListenerAuthority
from proxy.auth.identity import Identities
from proxy.core.clock import Clock
from proxy.core.topic_names import TopicNames
from proxy.net.complaints import Complaints
from proxy.net.shared_rows import SharedTable
from proxy.net.tasks import Tasks
from proxy.net.thread_work import ThreadWork
from proxy.net.upstream import Upstream
from proxy.telemetry.plugin_counters import PluginCounters

AT_ONCE = 3.0  # seconds in which plugins must finish when the proxy is to end at once, or a worker has drained


class PluginHost:
    """The things that all plugins of one worker share.

    `worker`: its number. `states`: the states that plugins took at run time. `table`: numbers that all workers count
    together.
    """

    def __init__(
        self,
        worker: int,
        clock: Clock,
        tasks: Tasks,
        states: Mapping[str, Any] | None = None,
        table: SharedTable | None = None,
    ) -> None:
        self.worker = worker
        self.states = dict(states or {})  # by plugin name: the state that it took last
        self.table = table or SharedTable()
        self.thread = threading.get_ident()  # the thread of the links
        self.trio = trio.lowlevel.current_trio_token()
        self.instance = secrets.token_hex(8)
        self.clock = clock
        self.offset = trio.current_time() - time.monotonic()  # seconds that trio's clock is ahead
        self.tasks = tasks
        self.complaints: Complaints = tasks.complaints
        self.counters = PluginCounters()
        self.topics: defaultdict[str, TopicNames] = defaultdict(TopicNames)  # by cluster
        self.threads: set[ThreadWork] = set()  # of plugins that run
        self.authority: Callable[[str], ListenerAuthority | None] = lambda listener: None  # the one in force
        self.identities: Callable[[str], Identities | None] = lambda cluster: None  # those in force
        self.upstream: Callable[[str], Upstream | None] = lambda cluster: None  # by cluster: the one that is served

    def cut(self) -> None:
        """The proxy ends at once: what plugins do in threads has little time left."""
        self.hurry(0)

    def hurry(self, seconds: float) -> None:
        """The proxy ends in so many seconds: what plugins do in threads has a little more time than this."""
        for threads in self.threads:
            threads.hurry(seconds + AT_ONCE)


class HostedClock:
    """The time of the links, and wall-clock time."""

    def __init__(self, clock: Clock, offset: float) -> None:
        self._clock, self._offset = clock, offset

    @property
    def now(self) -> float:
        """The time of the current event, of a monotonic clock."""
        return self._clock.now

    def read(self) -> float:
        """The current time of the same clock."""
        return time.monotonic() + self._offset

    wall = staticmethod(time.time)  # seconds since 1970 UTC
