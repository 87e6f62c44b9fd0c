"""Wrong controllers."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk


def cluster(*ids: int) -> Any:
    def answer(request: Any, version: int) -> Any:
        brokers = [MetadataResponse.Broker(node_id=it, host="kafka", port=9092) for it in ids]
        return MetadataResponse(brokers=brokers, controller_id=2, topics=[])

    return answer


@pytest.mark.parametrize(("who", "told"), [("none", -1), ("other", 3)])
def test_nobody_is_or_another(tmp_path: Path, who: str, told: int) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{do: {{controller: {who}}}}}]"), cluster(1, 2, 3))
    assert talk.ask(MetadataRequest(topics=[]), 9).controller_id == told


@pytest.mark.parametrize(
    ("version", "why"), [(0, "Metadata v0 answers name no controller"), (9, "the answer names no other broker")]
)
def test_where_no_other_can_be_named_nothing_fires(tmp_path: Path, version: int, why: str) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: {controller: other}}]")
    FaultTalk(faults, cluster(2)).ask(MetadataRequest(topics=[]), version)
    assert faults.told[0].endswith(why)
