"""Supervisor: the process that was started. Alone it is the worker; otherwise it keeps `workers` of them.

Rules:
* What would keep every worker from starting is found here, once: ports that others have, too few open files.
* The admin side is here, whoever serves: there is one port, and it speaks for all workers. Where it fails, the others
  go on without it until it is begun again.
"""

from __future__ import annotations

import resource
import socket
from functools import partial

import structlog
import trio

from proxy.config import Config, LimitOptions
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, claim, listen
from proxy.net.channel import Settings
from proxy.net.complaints import Complaints
from proxy.net.gateway import Gateway
from proxy.net.process import CANNOT_START, CUT, Serving, StartError, cannot_start, serve
from proxy.net.tasks import Tasks
from proxy.net.workers import Workers
from proxy.telemetry.counters import NetworkCounters
from proxy.telemetry.report import Report

log = structlog.get_logger()

SPARE_FILES = 1000  # besides the two of each connection: ports, pipes, logs, discovery


def run(config: Config, log_form: str = "auto", *, verbose: bool = False) -> int:
    """Serve until a signal comes. Gives the exit code: 0 after a clean end, 1 where it could not start or was cut."""
    try:
        for name, listener in config.listeners.items():
            claim(Endpoint(*listener.bind), f"listeners.{name}.bind")
        admin = listen(Endpoint(*config.admin.bind), "admin.bind") if config.admin else []
    except BindError as error:
        log.error("cannot start", why=str(error))
        return CUT
    _allow_open_files(config.limits)
    code = trio.run(_run, config, Settings(config, 0, log_form, verbose), admin)
    return CUT if code == CANNOT_START else code


async def _run(config: Config, settings: Settings, admin: list[socket.socket]) -> int:
    tasks = Tasks(NetworkCounters(), Complaints())
    try:
        serving: Serving = Gateway(config, mark=settings.mark) if config.workers == 1 else Workers(settings, tasks)
    except StartError as error:
        return cannot_start(error)
    async with trio.open_nursery() as nursery:
        if admin:
            from proxy.admin.server import serve_admin  # a proxy without it saves 0.2 s and 10 MB

            answer = partial(serve_admin, admin, serving.reports, config.workers)
            nursery.start_soon(tasks.keep, "answering on the admin side", answer)
        code = await serve(serving, Announcer(config))
        nursery.cancel_scope.cancel()
    return code


class Announcer:
    """Says which listeners are open, each once, and when all are: people, tests and scripts wait for these lines."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._said: set[str] = set()

    def __call__(self, report: Report) -> None:
        """Some listeners are open."""
        listeners = self._config.listeners
        new = report.listening.keys() - self._said
        for name, ports in report.listening.items():
            if name in new:
                self._said.add(name)
                bind = str(listeners[name].bind)
                brokers = ", ".join(f"{node_id} at {port}" for node_id, port in ports.items())
                log.info("listening", listener=name, bind=bind, brokers=brokers, workers=self._config.workers)
        if new and len(self._said) == len(listeners):
            log.info("ready", listeners=len(listeners))


def _allow_open_files(limits: LimitOptions) -> None:
    wanted = 2 * limits.connections + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < wanted and "connections" in limits.model_fields_set:  # nobody asked for the default
        way_out = f"raise the hard limit to {wanted} (ulimit -Hn), or lower limits.connections"
        log.warning("too few open files for limits.connections", hard_limit=hard, way_out=way_out)
