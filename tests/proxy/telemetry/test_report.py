from __future__ import annotations

import json

from proxy.telemetry.plugin_counters import PluginCount
from proxy.telemetry.report import Report


def test_a_report_survives_the_way_between_processes() -> None:
    count = PluginCount("doorkeeper.mask.masked", "1", "Values masked.", {"topic": "a"}, 7)
    report = Report(True, {"clients": {"1": 9194}}, {"main": {"1": "kafka-1:9092"}}, {"open": 3}, [count])
    assert Report.of(json.loads(json.dumps(report.as_json()))) == report
