"""The admin side's answers: `/health` and `/metrics`.

Rules:
* Both are about all workers of this proxy, whichever process answers.
* Healthy (200) is: every worker listens, and knows the brokers behind its listeners. Otherwise 503, with the same body.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proxy.telemetry.instruments import Instruments
from proxy.telemetry.report import Reports

Source = Callable[[], Awaitable[Reports]]  # what every worker says about itself, now


def application(source: Source, workers: int) -> Starlette:
    """The ASGI application over `workers` workers."""
    instruments = Instruments([PrometheusMetricReader()])

    async def health(request: Request) -> Response:
        reports = await source()
        ready = len(reports) == workers and all(report.ready for report in reports.values())
        body = {
            "status": "ready" if ready else "not ready",
            "workers": {
                str(worker): {"ready": report.ready, "listening": report.listening, "clusters": report.clusters}
                for worker, report in reports.items()
            },
        }
        return JSONResponse(body, 200 if ready else 503)

    async def metrics(request: Request) -> Response:
        instruments.take(await source())
        return Response(generate_latest(), headers={"content-type": CONTENT_TYPE_LATEST})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            instruments.close()

    return Starlette(routes=[Route("/health", health), Route("/metrics", metrics)], lifespan=lifespan)
