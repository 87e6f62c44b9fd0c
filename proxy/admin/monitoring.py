"""Monitoring: `/health` and `/metrics`.

Rules:
* Both are about all workers of this proxy, whichever process answers.
* The proxy is healthy (200) if every worker listens and knows the brokers behind its listeners. Otherwise the status is
  503, with the same body.
* All who ask at one moment share the reports of the workers. A worker that hangs has a second to answer: if each asked
  by itself, a few dozen would keep everybody from an answer for as many seconds.
* Metrics need no token, and their text takes milliseconds to write. So it is written at most twice a second, in a
  thread, for all who wait for it: Kafka clients of the same process go on.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import ObservableCounter, ObservableGauge
from opentelemetry.sdk.metrics.export import CardinalityLimits
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from proxy.admin.operations import HttpOperation
from proxy.admin.shapes import HealthAnswer
from proxy.admin.shared_work import SharedWork
from proxy.telemetry.counters import CountsByName
from proxy.telemetry.instruments import Instruments
from proxy.telemetry.report import Reports

EVERY = 0.5  # seconds at least between two texts of metrics
# Each worker bounds the number of its sets of attributes itself (`plugin_counters.py`). The SDK would bound that of all
# workers together, to 2,000, and count the others as one, without their worker.
LIMITS: CardinalityLimits = {ObservableCounter: sys.maxsize, ObservableGauge: sys.maxsize}

ReportSource = Callable[[], Awaitable[Reports]]  # the current report of every worker
Counted = Callable[[], CountsByName]  # what this process counted beside its workers


class Monitoring:
    """The monitoring operations over `workers` workers."""

    def __init__(self, source: ReportSource, workers: int, counted: Counted) -> None:
        self._reports = SharedWork(source, 0.0)
        self._counted = counted
        self._workers = workers
        self._instruments = Instruments([PrometheusMetricReader(cardinality_limits=LIMITS)])
        self._scrape = SharedWork(self._scraped, EVERY)

    @property
    def operations(self) -> list[HttpOperation]:
        """All operations of this group."""
        return [
            HttpOperation("GET", "/health", self._health, "Is it ready?", HealthAnswer, is_open=True),
            HttpOperation("GET", "/metrics", self._metrics, "What Prometheus reads", is_open=True),
        ]

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Close the instruments when the application ends."""
        try:
            yield
        finally:
            self._instruments.close()

    async def _health(self, request: Request) -> Response:
        reports = await self._reports.result()
        ready = len(reports) == self._workers and all(report.ready for report in reports.values())
        body = {
            "status": "ready" if ready else "not ready",
            "workers": {
                str(worker): {"ready": report.ready, "listening": report.listening, "clusters": report.clusters}
                for worker, report in reports.items()
            },
        }
        return JSONResponse(body, 200 if ready else 503)

    async def _metrics(self, request: Request) -> Response:
        return Response(await self._scrape.result(), headers={"content-type": CONTENT_TYPE_LATEST})

    async def _scraped(self) -> bytes:
        self._instruments.take(await self._reports.result(), self._counted())
        return await trio.to_thread.run_sync(generate_latest)
