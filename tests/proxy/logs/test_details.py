"""Debug lines are limited too, and the limit drops no other line."""

from __future__ import annotations

import json

import pytest
import structlog

from proxy.logs.cut import SHORT
from proxy.logs.details import BURST, PACE
from tests.proxy.logs.written import Written


def test_very_many_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("proxy.logs.bucket.time.monotonic", lambda: now)
    out, log = Written(verbose=True), structlog.get_logger()
    for _ in range(BURST + 20):
        log.debug("connection closed")
    assert len(out.lines) == BURST
    log.info("listening")
    assert len(out.lines) == BURST + 1
    now = PACE
    log.debug("connection closed", software="x" * 1000)
    last = json.loads(out.lines[-1])
    assert last["left_out"] == 20
    assert len(last["software"]) < SHORT + 30
