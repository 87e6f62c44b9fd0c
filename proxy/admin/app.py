"""The admin side: an HTTP application made of operations. Each group of them has its own module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware

from proxy.admin.clients import ClientOperations
from proxy.admin.fault_operations import FaultOperations
from proxy.admin.guard import Guard
from proxy.admin.large_bodies import LargeBodies
from proxy.admin.monitoring import Monitoring
from proxy.admin.openapi import with_document
from proxy.admin.operations import routes
from proxy.admin.problems import HANDLERS
from proxy.config.model import Admin
from proxy.core.state import PluginStates
from proxy.telemetry.counters import CountsByName
from proxy.telemetry.report import Reports


class RunningProxy(Protocol):
    """The proxy with all its workers, as the admin side sees it."""

    @property
    def states(self) -> PluginStates:
        """The state of the plugins in all workers."""

    async def reports(self) -> Reports:
        """The reports of all workers."""

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """The open connections, at most `limit` of each worker."""


def application(
    running: RunningProxy,
    workers: int,
    options: Admin,
    used_much: Callable[[], None],
    counted: Callable[[], CountsByName],
) -> Starlette:
    """The ASGI application over `workers` workers. It calls `used_much` after large requests and responses.

    It publishes what `counted` returns beside the counts of the workers, and counts nothing itself.
    """
    monitoring = Monitoring(running.reports, workers, counted)
    clients, faults = ClientOperations(running.connections), FaultOperations(running.states)
    operations = with_document([*monitoring.operations, *clients.operations, *faults.operations])
    guard = Guard(options.secret, options.bind.host)
    served = Starlette(
        routes=routes(operations, guard),
        lifespan=monitoring.lifespan,
        exception_handlers=HANDLERS,
        middleware=[Middleware(LargeBodies, used_much)],
    )
    served.router.redirect_slashes = False  # to an address with the `Host` of anybody, before the guard is asked
    return served
