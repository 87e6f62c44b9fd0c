"""The report of the attacks stands above pytest's own summary."""

from __future__ import annotations

import pytest

from tests.hostile.report import HEAD, written


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if written:
        terminalreporter.section("hostile clients, brokers and surroundings")
        for row in (HEAD, *written):
            terminalreporter.write_line(row)
