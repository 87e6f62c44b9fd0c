"""A decoded message, as JSON and as text."""

from __future__ import annotations

import json

import pytest

from proxy.cli.decoded import decoded
from proxy.cli.material import MessageType, Piece
from proxy.protocol import ProtocolError
from proxy.protocol.api import METADATA
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame
from proxy.protocol.messages.metadata import MetadataRequest

FRAME = request_frame(MetadataRequest(topics=None), 1, 7, "app")[SIZE.size :]


def test_a_request_has_its_header_and_its_fields() -> None:
    found = decoded(Piece("frame", FRAME, None), secrets=False)
    assert json.loads(found.line)["request"] == {"topics": None}
    assert json.loads(found.line)["requestHeader"]["clientId"] == "app"
    assert found.text == 'Metadata v1 request, correlation id 7, client id "app"\n  topics: null'


def test_a_bare_body_gives_its_message_alone() -> None:
    body = Piece("body", b"\xff" * 4, MessageType("request", METADATA, 1), bare=True)
    assert decoded(body, secrets=False).line == '{"topics":null}'


def test_bytes_behind_a_message_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    decoded(Piece("frame", FRAME + b"123", None), secrets=False)
    assert capsys.readouterr().err == "Metadata request v1: 3 bytes more, which are ignored\n"


def test_what_is_no_message_raises() -> None:
    with pytest.raises(ProtocolError):
        decoded(Piece("frame", FRAME[:-1], None), secrets=False)
