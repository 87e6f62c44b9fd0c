"""Shared: fields of many events are converted to JSON once."""

from __future__ import annotations

from plugins.audit.shared import PLAIN, SharedFields, text_bytes


def test_what_events_share_is_written_as_json_once() -> None:
    shared = SharedFields({"principal": "User:alice", "client_port": 9})
    assert shared.json == b'"principal":"User:alice","client_port":9'
    assert shared.json is shared.json


def test_long_texts_take_room() -> None:
    assert SharedFields({"principal": "User:alice", "client_port": 9}).weight == 0
    assert SharedFields({"principal": "x" * PLAIN, "client_id": "y" * PLAIN}).weight == 2
    assert [text_bytes(text) for text in (None, "", "abc")] == [0, 0, 3]
