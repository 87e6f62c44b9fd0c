"""The admin API over a real plugin, without a network: its responses are those of a real worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

from plugins.faults import Faults
from proxy.admin.app import application
from proxy.config.model import Admin
from proxy.core.state import NoPluginError
from proxy.telemetry.report import Report, Reports
from proxy.testing import FakeWorker, build


def nothing() -> None:
    """Does nothing: memory is not given back here."""


def nobody_closed(client: str) -> None:
    """Few connections are open, so none is closed for another."""
    raise AssertionError(client)


class OneWorker:
    """The plugin `faults` of one worker, in front of one cluster."""

    def __init__(self, plugin: Faults | None = None) -> None:
        self.worker = FakeWorker(name="faults")
        self.plugin = plugin or build(Faults, self.worker)
        self.states: dict[str, Any] = {}

    def of(self, plugin: str) -> Any:
        return self.states.get(plugin)

    async def change(self, plugin: str, state: Any) -> None:
        if plugin != "faults":
            raise NoPluginError(plugin)
        self.plugin.prepare_state(state)()
        self.states[plugin] = state

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        if plugin != "faults":
            raise NoPluginError(plugin)
        return {0: [self.plugin.query(question, said)]}


async def nobody() -> Reports:
    return {0: Report(True)}


class Running:
    """A proxy of one worker, as the admin API sees it."""

    def __init__(self, states: Any = None, source: Any = nobody) -> None:
        self.states = states or OneWorker()
        self.reports = source
        self.connected = [{"total": 0, "connections": []}]

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        return self.connected


def made(options: Admin) -> Starlette:
    """The application of a proxy of one worker."""
    return application(Running(), 1, options, nothing, dict)


@asynccontextmanager
async def asked(
    states: Any = None, source: Any = nobody, workers: int = 1, **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client of the admin API."""
    admin = Admin.model_validate({"bind": "127.0.0.1:9190", **options})
    app = application(Running(states, source), workers, admin, nothing, dict)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9190") as client:
            yield client
