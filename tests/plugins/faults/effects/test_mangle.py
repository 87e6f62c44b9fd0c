"""Responses with wrong bytes."""

from pathlib import Path

import pytest

from plugins.faults.effects.mangle import MangleAnswer
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving

FRAME = bytes.fromhex("0000000a 00000007 010203040506")


@pytest.mark.parametrize(
    ("what", "mangled"),
    [
        ("correlation_id", "0000000a 00000008 010203040506"),
        ("longer", "0000000b 00000007 010203040506"),
        ("shorter", "00000009 00000007 010203040506"),
        ("huge", "7fffffff 00000007 010203040506"),
        ("negative", "ffffffff 00000007 010203040506"),
        ("twice", "0000000a 00000007 010203040506 0000000a 00000007 010203040506"),
        ("garbage", "0000000a 00000007 010203fb0506"),
    ],
)
def test_what_is_wrong_is_what_was_asked_for(what: str, mangled: str) -> None:
    assert MangleAnswer.model_validate({"what": what}).mangled(FRAME, 0.5) == bytes.fromhex(mangled)


def test_an_answer_without_a_body_has_no_garbage() -> None:
    assert MangleAnswer.model_validate({"what": "garbage"}).mangled(FRAME[:8], 0.5) == FRAME[:8]


def test_the_client_gets_the_answer_to_another_request(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce}, do: {mangle: longer}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert talk.ask(produce("orders"), 9) is None  # it waits for one byte more
    assert int.from_bytes(talk._arriving[:4]) == len(talk._arriving) - 4 + 1
