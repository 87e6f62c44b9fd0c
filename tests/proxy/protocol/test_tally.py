"""Tally: the compiler alone; test_compiled_tally.py tests the compiled code."""

from __future__ import annotations

import pytest

from proxy.protocol import tally
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.tally import element_counter, traffic


def test_where_nothing_is_compiled_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "compiled", None)
    assert traffic.__wrapped__(ProduceRequest, ProduceResponse, 9) is None
    assert element_counter.__wrapped__(MetadataRequest, 12)(b"\1\0\0\0", 0, 9) is None
