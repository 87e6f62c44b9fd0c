from __future__ import annotations

from dataclasses import asdict

from proxy.telemetry.counters import NetworkCounters


def test_a_reading_is_plain_ints_that_begin_at_zero() -> None:
    assert set(asdict(NetworkCounters()).values()) == {0}
