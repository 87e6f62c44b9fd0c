"""The admin side: what it answers is made of operations, which each have their module."""

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
from proxy.telemetry.report import Reports


class RunningProxy(Protocol):
    """What the admin side speaks for: all workers."""

    @property
    def states(self) -> PluginStates:
        """Their plugins."""

    async def reports(self) -> Reports:
        """What each says about itself."""

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """Who is connected to each, as many of them as the limit."""


def application(running: RunningProxy, workers: int, options: Admin, used_much: Callable[[], None]) -> Starlette:
    """The ASGI application over `workers` workers. `used_much` has memory given back."""
    monitoring = Monitoring(running.reports, workers)
    clients, faults = ClientOperations(running.connections), FaultOperations(running.states)
    operations = with_document([*monitoring.operations, *clients.operations, *faults.operations])
    guard = Guard(options.secret, options.bind.host)
    return Starlette(
        routes=routes(operations, guard),
        lifespan=monitoring.lifespan,
        exception_handlers=HANDLERS,
        middleware=[Middleware(LargeBodies, used_much)],
    )
