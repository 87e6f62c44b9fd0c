"""Plugin lines: the lines that one plugin writes to the log.

Rules:
* They are rate-limited as all lines that clients can cause.
* In the thread of the links, a line that cannot be written raises where it is logged. From another thread, it is a
  failed task.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import partial

import structlog

from proxy.core.context import Connection
from proxy.core.services import LogLevel
from proxy.logs.cut import short
from proxy.net.plugin_host import PluginHost

log = structlog.get_logger()


class PluginLines:
    """Writes the lines of the plugin of this name in front of one cluster."""

    def __init__(self, host: PluginHost, cluster: str, name: str) -> None:
        self._host = host
        self._cluster = cluster
        self._name = name

    def tell(
        self,
        event: str,
        connection: Connection | None = None,
        *,
        level: LogLevel = "info",
        about: Hashable = None,
        example: Hashable = None,
        **facts: object,
    ) -> None:
        """Write a line: see `services.LineWriter`."""
        if threading.get_ident() != self._host.thread:
            again = partial(self.tell, event, connection, level=level, about=about, example=example, **facts)
            self._host.trio.run_sync_soon(self._contained, again)
            return
        who = None if connection is None else (connection.listener, connection.whose)
        left_out = self._host.complaints.due(event, (self._cluster, self._name, who, about), example)
        if left_out is not None:
            known = {"cluster": self._cluster} if connection is None else connection.facts()
            getattr(log, level)(event, **short({"plugin": self._name, **facts, **known}), **left_out)

    def _contained(self, line: Callable[[], None]) -> None:
        with self._host.tasks.contained("a line of a plugin", plugin=self._name):
            line()
