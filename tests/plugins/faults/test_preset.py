"""Preset faults are the errors that brokers send, by API and version."""

from pathlib import Path

import pytest

from plugins.faults.effects.fenced import CODES as FENCED
from plugins.faults.effects.rebalance import CODES as REBALANCE
from plugins.faults.preset import Codes
from proxy.protocol.errors import ErrorCode
from tests.plugins.faults.members import end_txn, heartbeat
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving


@pytest.mark.parametrize("codes", [REBALANCE, *FENCED.values()])
def test_the_newest_version_is_the_first(codes: Codes) -> None:
    for api, found in codes.items():
        versions = [since.version for since in found]
        assert versions == sorted(versions, reverse=True), api
        assert all(version in api.versions for version in versions)


@pytest.mark.parametrize("side", ["before_broker", "after_broker"])
def test_it_is_said_before_the_broker_or_after_it(tmp_path: Path, side: str) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{do: {{rebalance: {side}}}}}]"), serving)
    assert talk.ask(heartbeat(), 4).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bool(talk.to_broker) is (side == "after_broker")


def test_a_request_of_another_api_is_not_meant(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: rebalance}]")
    assert FaultTalk(faults, serving).ask(end_txn(), 3).error_code == 0
    assert faults.told == []
