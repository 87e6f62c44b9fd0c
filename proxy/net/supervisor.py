"""Supervisor: the process that the user started. It is the worker itself, or it runs several worker processes.

Rules:
* Problems that would keep every worker from starting are found here, once: the port of the admin side is in use, or
  those of all listeners, or descriptors run out. If some listeners have their ports, these are served
  (`claiming.py`).
* The admin side runs here in either case: there is one port, and it speaks for all workers. If it fails, the rest goes
  on without it until it is started again.
"""

from __future__ import annotations

import socket
from dataclasses import asdict
from functools import partial

import structlog
import trio

from proxy import logs
from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, listen
from proxy.net.channel import Settings
from proxy.net.claiming import claim_later, unclaimed
from proxy.net.complaints import Complaints
from proxy.net.gateway import Gateway
from proxy.net.last_resort import LastResort
from proxy.net.later_return import LaterReturn
from proxy.net.machine import allow_open_files
from proxy.net.process import CANNOT_START, CUT, Serving, StartError, cannot_start, serve
from proxy.net.reloading import Examine, obey
from proxy.net.tasks import Tasks
from proxy.net.workers import Workers
from proxy.telemetry.counters import AdminCounters, CountsByName, NetworkCounters
from proxy.telemetry.report import Report
from proxy.text.scarce import scarcity

log = structlog.get_logger()

HURRY = 8.0  # seconds for the end at once: more than workers have for it
UNTAKEN = 10.0  # seconds within which a client of the admin side must take a part of its response


def run(config: Config, log_form: str = "auto", *, verbose: bool = False, examine: Examine | None = None) -> int:
    """Serve until a signal comes. Returns the exit code: 0 after a clean end, 1 if it could not start or was cut.

    `examine` reads the configuration anew on SIGHUP.
    """
    refused = unclaimed(config)
    wrong, admin = list(refused.values()) if len(refused) == len(config.listeners) else [], []
    try:
        admin = listen(Endpoint(*config.admin.bind), "admin.bind", untaken=UNTAKEN) if config.admin else []
    except BindError as error:
        wrong.append(error)
    if wrong:
        cannot_start(*wrong)
        return CUT
    for name, why in refused.items():
        log.error("bootstrap port not opened", listener=name, why=str(why), meanwhile="the other listeners are served")
    allow_open_files(config.limits)
    settings = Settings(config, 0, log_form, verbose, taken=frozenset(refused))
    try:
        with LastResort(CUT) as last_resort:
            code = trio.run(_run, config, settings, admin, examine, last_resort)
    except* OSError as group:  # it cannot start: once it serves, tasks contain such errors
        if (scarce := scarcity(group)) is None:
            raise
        code = cannot_start(StartError(scarce))
    return CUT if code == CANNOT_START else code


async def _run(
    config: Config,
    settings: Settings,
    admin: list[socket.socket],
    examine: Examine | None,
    last_resort: LastResort,
) -> int:
    tasks = Tasks(NetworkCounters(), Complaints())
    try:
        serving: Serving = Gateway(config, mark=settings.mark) if config.workers == 1 else Workers(settings, tasks)
    except StartError as error:
        return cannot_start(error)
    async with trio.open_nursery() as nursery:
        if config.admin is not None:
            from proxy.admin.app import application  # without the admin side, 0.2 s and 10 MB are saved
            from proxy.admin.server import serve_admin

            returning, counters = LaterReturn(), AdminCounters()
            nursery.start_soon(tasks.keep, "giving memory back", returning.run)
            nursery.start_soon(tasks.keep, "summing up complaints", tasks.complaints.watch)
            counted = partial(_counted, counters, tasks, serving)
            make = partial(application, serving, config.workers, config.admin, returning.ask, counted)
            closed = partial(_admin_connection_closed, counters, tasks.complaints)
            nursery.start_soon(tasks.keep, "answering on the admin side", partial(serve_admin, admin, make, closed))
        if isinstance(serving, Workers):
            nursery.start_soon(tasks.keep, "claiming ports", partial(claim_later, serving))
        if examine is not None:
            await nursery.start(obey, examine, serving, tasks)
        code = await serve(serving, Announcer(serving), partial(last_resort.begin, HURRY))
        last_resort.begin(UNTAKEN + HURRY)
        nursery.cancel_scope.cancel()
    return code


def _admin_connection_closed(counters: AdminCounters, complaints: Complaints, client: str) -> None:
    """Count and tell that a connection of the admin side was closed for another one."""
    counters.closed_admin_connections += 1
    why = "too many are open, and this one was silent longest"
    complaints.tell(log.warning, "admin connection closed", None, client, why=why, client=client)


def _counted(counters: AdminCounters, tasks: Tasks, serving: Serving) -> CountsByName:
    """What this process counted that no worker reports."""
    failed, left_out = tasks.counters.failed_tasks, tasks.complaints.left_out
    counted = asdict(counters) | {"failed_tasks": failed, "log_lines_left_out": left_out}
    if isinstance(serving, Workers):  # a single worker is this process, and reports its log
        counted |= {"log_lines_not_taken": logs.dropped(), "dead_workers": serving.dead}
    return counted


class Announcer:
    """Logs each listener once when it is open, and when all are. People, tests and scripts wait for these lines."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._said: set[tuple[str, str]] = set()  # name and address of each listener

    def __call__(self, report: Report) -> None:
        """Some listeners have opened."""
        config = self._serving.config
        wanted = {(name, str(listener.bind)) for name, listener in config.listeners.items()}
        new = {(name, bind) for name, bind in wanted - self._said if name in report.listening}
        self._said = (self._said & wanted) | new
        for name, bind in sorted(new):
            brokers = ", ".join(f"{node_id} at {port}" for node_id, port in report.listening[name].items())
            log.info("listening", listener=name, bind=bind, brokers=brokers, workers=config.workers)
        if new and self._said == wanted:
            log.info("ready", listeners=len(wanted))
