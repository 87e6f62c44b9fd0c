from __future__ import annotations

import json

from proxy.telemetry.report import Report


def test_a_report_survives_the_way_between_processes() -> None:
    report = Report(True, {"clients": {"1": 9194}}, {"main": {"1": "kafka-1:9092"}}, {"open": 3})
    assert Report.of(json.loads(json.dumps(report.as_json()))) == report
