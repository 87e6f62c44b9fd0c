"""A thread that computes lets the event loop's thread go on."""

from __future__ import annotations

import sys
import threading

import pytest

from proxy.text.interpreter import give_way


def test_a_thread_that_computes_lets_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(60.0)  # else the interpreter would be taken from the thread
    try:
        waits, went_on = threading.Event(), threading.Event()

        def other() -> None:
            waits.set()
            went_on.set()

        thread = threading.Thread(target=other)
        thread.start()
        for _ in range(1_000_000):
            give_way()
            if went_on.is_set():
                break
        assert went_on.is_set()
    finally:
        sys.setswitchinterval(usual)
    thread.join()
