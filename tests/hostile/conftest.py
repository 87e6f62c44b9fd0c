"""The report of the attacks stands above pytest's own summary."""

from __future__ import annotations

import pytest

from tests.hostile.report import HEAD, ROW


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    rows = [str(value) for report in reports for name, value in report.user_properties if name == ROW]
    if rows:
        terminalreporter.section("hostile clients, brokers and surroundings")
        for row in (HEAD, *rows):
            terminalreporter.write_line(row)
