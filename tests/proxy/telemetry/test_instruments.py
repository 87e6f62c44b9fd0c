from __future__ import annotations

from importlib.metadata import version

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from proxy.telemetry.instruments import Instruments
from proxy.telemetry.measures import ACCEPTED, ADMIN_CLOSED, LIMITS, OPEN
from proxy.telemetry.report import Report

Point = tuple[dict[str, str], int]


def collect(instruments: Instruments, reader: InMemoryMetricReader) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                found[metric.name] = [(dict(point.attributes), point.value) for point in metric.data.data_points]
    return found


def service(reader: InMemoryMetricReader) -> dict[str, object]:
    instruments = Instruments([reader])
    instruments.take({0: Report(True, reading={"open": 1})})
    data = reader.get_metrics_data()
    assert data is not None
    instruments.close()
    return dict(data.resource_metrics[0].resource.attributes)


def test_the_service_has_its_name_and_version_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = service(InMemoryMetricReader())
    assert found["service.name"] == "doorkeeper"
    assert found["service.version"] == version("doorkeeper")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "edge")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    found = service(InMemoryMetricReader())
    assert found["service.name"] == "edge"
    assert found["deployment.environment"] == "test"
    assert found["service.version"] == version("doorkeeper")


def test_values_are_read_when_somebody_collects_and_carry_their_worker() -> None:
    reader = InMemoryMetricReader()
    instruments = Instruments([reader])
    instruments.take(
        {
            0: Report(True, reading={"open": 2, "accepted": 5, "idle": 1}),
            1: Report(True, reading={"open": 0, "accepted": 7}),
        }
    )
    found = collect(instruments, reader)
    assert found[OPEN] == [({"worker": "0"}, 2), ({"worker": "1"}, 0)]
    assert found[ACCEPTED] == [({"worker": "0"}, 5), ({"worker": "1"}, 7)]
    assert found[LIMITS] == [({"limit": "idle", "worker": "0"}, 1)]

    instruments.take({0: Report(True, reading={"open": 1, "accepted": 6})}, {"closed_admin_connections": 3})
    found = collect(instruments, reader)
    assert found[ACCEPTED] == [({"worker": "0"}, 6)]
    assert found[ADMIN_CLOSED] == [({"worker": "admin"}, 3)]
    instruments.close()
