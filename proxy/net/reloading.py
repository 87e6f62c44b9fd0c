"""Reloading: the files that plugins work by, kept in step while the proxy runs.

Rules:
* A file is looked at five times a second, in a thread. What it says is in force at once, on connections that are open
  too.
* A broken new file is a line in the log; what there was before stays in force. A plugin that fails at it keeps no other
  from its files.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
import trio

from proxy.core.plugin import Plugin
from proxy.net.complaints import Complaints
from proxy.net.tasks import Tasks
from proxy.text.problems import Reload

log = structlog.get_logger()

EVERY = 0.2  # seconds between two looks: what is written is in force within a second on a busy machine too


async def keep_in_step(plugins: Iterable[Plugin], tasks: Tasks) -> None:
    """Look until cancelled."""
    watching = [plugin for plugin in plugins if type(plugin).refresh is not Plugin.refresh]
    while watching:
        await trio.sleep(EVERY)
        for plugin in watching:
            with tasks.contained("reading rules", plugin=type(plugin).__name__):
                for reload in await trio.to_thread.run_sync(plugin.refresh):
                    _tell(reload, tasks.complaints)


def _tell(reload: Reload, complaints: Complaints) -> None:
    if reload.taken:  # perhaps by a client that may change them, again and again
        warnings = {"warnings": list(reload.said)} if reload.said else {}
        complaints.tell(log.info, "rules reloaded", reload.file, trio.current_time(), file=reload.file, **warnings)
    else:
        log.error("rules not reloaded", why="\n".join(reload.said), still="what was read before")
