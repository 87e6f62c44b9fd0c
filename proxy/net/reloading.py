"""Reloading: SIGHUP has the configuration file read anew, and put in force while everything goes on.

Rules:
* It is checked whole first, with the files that it names, the ports that it wants, and what cannot change while the
  proxy runs. It is refused with all its problems, each a line, and nothing changed; or it is taken, in all workers.
* One after the other: signals that come meanwhile are one more.
* One that comes while the proxy starts is obeyed as soon as that can be; none is any more once it is about to end.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import structlog
import trio

from proxy.config import Config, Problem
from proxy.config.changes import changes, fixed
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, claim
from proxy.net.process import Serving, StartError
from proxy.net.tasks import Tasks
from proxy.text.problems import Finding

log = structlog.get_logger()

Also = Callable[[Config], Iterable[Finding]]  # finds more that is wrong
Examine = Callable[[Also], tuple[Config | None, list[Problem]]]


async def obey(
    examine: Examine, serving: Serving, tasks: Tasks, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Reload at each SIGHUP, until cancelled. `examine` reads the file anew."""
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # trio raises again what is not obeyed in the end
    with trio.open_signal_receiver(signal.SIGHUP) as signals:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # one that came before this
        task_status.started()
        async for _ in signals:
            with tasks.contained("reloading the configuration"):
                await reload(examine, serving)


async def reload(examine: Examine, serving: Serving) -> None:
    """Read the file, check it, and put it in force; or say why not."""
    running = serving.config
    ours = {port for report in (await serving.reports()).values() for port in _ports(report.listening)}
    config, problems = await trio.to_thread.run_sync(examine, partial(_findings, running, ours))
    refused = [str(problem) for problem in problems if not problem.warning]
    if config is not None:
        try:
            await serving.apply(config)
        except StartError as error:
            refused = list(error.reasons)
    for reason in refused:
        log.error("configuration refused", what=reason)
    if refused or config is None:
        log.error("configuration not reloaded", problems=len(refused), still="the one that was read before")
        return
    for problem in problems:
        log.warning("mind the configuration", what=str(problem))
    log.info("configuration reloaded", changed=", ".join(changes(running, config)) or "nothing")


def _findings(running: Config, ours: set[int], config: Config) -> Iterator[Finding]:
    """What is wrong with it in a proxy that runs already; `ours` are ports that this one has for brokers."""
    yield from fixed(running, config)
    bound = {listener.bind for listener in running.listeners.values()}
    for name, listener in config.listeners.items():
        if listener.bind not in bound and listener.bind.port not in ours:
            try:
                claim(Endpoint(*listener.bind), f"listeners.{name}.bind")
            except BindError as error:
                yield Finding(("listeners", name, "bind"), str(error))


def _ports(listening: dict[str, dict[str, int]]) -> Iterator[int]:
    for ports in listening.values():
        yield from ports.values()
