"""Members and producers get the error that they are fenced."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from tests.plugins.faults.members import end_txn, heartbeat, of_epoch
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


@pytest.mark.parametrize(
    ("who", "request_", "version", "code"),
    [
        ("member", heartbeat(), 4, "UNKNOWN_MEMBER_ID"),
        ("member", of_epoch(5)["consumer"], 0, "UNKNOWN_MEMBER_ID"),
        ("instance", heartbeat(), 3, "FENCED_INSTANCE_ID"),
        ("producer", end_txn(), 1, "INVALID_PRODUCER_EPOCH"),
        ("producer", end_txn(), 2, "PRODUCER_FENCED"),
    ],
)
def test_the_error_is_that_of_the_api_and_version(
    tmp_path: Path, who: str, request_: Any, version: int, code: str
) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{do: {{fenced: {who}}}}}]"), serving)
    assert ErrorCode(talk.ask(request_, version).error_code).name == code


def test_producers_are_told_so_at_their_partitions(tmp_path: Path) -> None:
    text = "faults: [{match: {topic: orders}, do: {fenced: producer}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    told = errors(talk.ask(produce("orders", "payments"), 9))
    assert told == {("orders", 0): "INVALID_PRODUCER_EPOCH", ("payments", 0): "NONE"}


def test_what_a_version_cannot_say_does_not_fire(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: {fenced: instance}}]")
    FaultTalk(faults, serving).ask(heartbeat(), 2)
    assert faults.told[0].endswith("Heartbeat v2 knows no such error")
