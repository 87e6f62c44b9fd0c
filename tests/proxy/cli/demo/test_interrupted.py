"""Ctrl-C ends the demo as Ctrl-C, whatever the client was doing."""

from __future__ import annotations

import os
import signal

import pytest
from confluent_kafka import Producer

from proxy.cli.demo.interrupted import interruptible

SECONDS = 10.0


def test_ctrl_c_in_a_callback_of_the_client_is_not_lost() -> None:
    def called(_statistics: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    producer = Producer({"statistics.interval.ms": 10, "stats_cb": called})
    with pytest.raises(KeyboardInterrupt), interruptible():
        producer.poll(SECONDS)
    assert signal.getsignal(signal.SIGINT) == before


def test_another_error_of_the_client_stays_what_it_is() -> None:
    with pytest.raises(SystemError, match="a bug"), interruptible():
        raise SystemError("a bug")
