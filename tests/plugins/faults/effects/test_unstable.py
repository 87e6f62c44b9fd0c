"""Coordinators that are loading or moving."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.plugins.faults.members import end_txn, heartbeat, of_epoch
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving


def told(folder: Path, what: str, *requests: tuple[Any, int]) -> list[str]:
    talk = FaultTalk(FaultFile(folder, f"faults: [{{do: {{unstable: {what}}}}}]"), serving)
    return [ErrorCode(talk.ask(request, version).error_code).name for request, version in requests]


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("moved", "NOT_COORDINATOR"),
        ("loading", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("unavailable", "COORDINATOR_NOT_AVAILABLE"),
    ],
)
def test_groups_and_transactions_are_told_so(tmp_path: Path, what: str, code: str) -> None:
    asked = (heartbeat(), 4), (end_txn(), 3), (of_epoch(5)["share"], 1)
    assert told(tmp_path, what, *asked) == [code] * 3


def test_nobody_is_found(tmp_path: Path) -> None:
    asked = FindCoordinatorRequest(key="g")
    assert told(tmp_path, "loading", (asked, 3)) == ["COORDINATOR_NOT_AVAILABLE"]


def test_it_is_now_this_and_now_that_the_same_each_time(tmp_path: Path) -> None:
    asked = [(heartbeat(), 4)] * 20
    found = told(tmp_path, "any", *asked)
    assert set(found) == {"NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"}
    assert told(tmp_path, "any", *asked) == found
