"""Reloading: on SIGHUP the configuration file is read again, and put in force without a break.

Rules:
* The file is checked completely first: with the files that it names, the ports that it needs, and the options that
  cannot change while the proxy runs. Either it is refused with all its problems, each a line, and nothing changes. Or
  all workers take it.
* Reloads come one after the other. Signals during one reload cause one more.
* Without descriptors nothing can be read, which is no fault of the file. That is a line, and the reload is tried again,
  less and less often, until there are some.
* A SIGHUP during the start is handled as soon as possible. Once the proxy is ending, none is handled.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count

import structlog
import trio

from proxy.config import Config, Problem
from proxy.config.changes import changes, fixed
from proxy.core.backoff import backoff
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, PortTakenError, claim, overlap
from proxy.net.process import Serving, StartError
from proxy.net.tasks import Tasks
from proxy.text.problems import Finding
from proxy.text.scarce import is_scarce, why_scarce

log = structlog.get_logger()

# Seconds until a reload is tried again for which there were no descriptors. Each attempt may start plugins, and stop
# them again, in workers that have some.
FIRST_RETRY, LAST_RETRY = 1.0, 30.0
STILL = "the one that was read before"

Also = Callable[[Config], Iterable[Finding]]  # finds further problems
Examine = Callable[[Also], tuple[Config | None, list[Problem]]]


async def obey(
    examine: Examine, serving: Serving, tasks: Tasks, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Reload at each SIGHUP, until cancelled. `examine` reads the file."""
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # trio raises an unhandled signal again
    with trio.open_signal_receiver(signal.SIGHUP) as signals:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # for a signal that came before this
        task_status.started()
        async for _ in signals:
            with tasks.contained("reloading the configuration"):
                await _reload_when_possible(examine, serving, tasks)


async def _reload_when_possible(examine: Examine, serving: Serving, tasks: Tasks) -> None:
    for failures in count(1):
        try:
            await reload(examine, serving)
            return
        except OSError as error:
            if not is_scarce(error):
                raise
            pause = backoff(FIRST_RETRY, LAST_RETRY, failures)
            facts = {"why": why_scarce(error), "still": STILL, "again": f"in {pause:g} s"}
            tasks.complaints.tell(log.error, "configuration not reloaded", **facts)
        await trio.sleep(pause)


async def reload(examine: Examine, serving: Serving) -> None:
    """Read the file, check it, and put it in force, or log why not."""
    running = serving.config
    ours = {each for report in (await serving.reports()).values() for each in _broker_ports(running, report.listening)}
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
        log.error("configuration not reloaded", problems=len(refused), still=STILL)
        return
    for problem in problems:
        log.warning("mind the configuration", what=str(problem))
    log.info("configuration reloaded", changed=", ".join(changes(running, config)) or "nothing")


def _findings(running: Config, ours: set[Endpoint], config: Config) -> Iterator[Finding]:
    """Problems of a configuration for a proxy that already runs. `ours`: what this proxy has open for brokers."""
    yield from fixed(running, config)
    before = {name: Endpoint(*listener.bind) for name, listener in running.listeners.items()}
    after = {name: Endpoint(*listener.bind) for name, listener in config.listeners.items()}
    freed = [bind for name, bind in before.items() if after.get(name) != bind]  # they close before others open
    for name, bind in after.items():
        if bind == before.get(name):
            continue
        try:
            claim(bind, f"listeners.{name}.bind")
        except BindError as error:
            is_taken = isinstance(error, PortTakenError)
            if not (is_taken and any(_overlap(bind, each) for each in (*freed, *ours))):
                yield Finding(("listeners", name, "bind"), str(error))


def _overlap(one: Endpoint, other: Endpoint) -> bool:
    return one.port == other.port and overlap(one.host, other.host)


def _broker_ports(running: Config, listening: dict[str, dict[str, int]]) -> Iterator[Endpoint]:
    for name, ports in listening.items():
        if name in running.listeners:
            yield from (Endpoint(running.listeners[name].bind.host, port) for port in ports.values())
