"""Leader epochs that are past or still to come."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk


def leading(epoch: int) -> Any:
    def answer(request: Any, version: int) -> Any:
        partition = MetadataResponse.Topic.Partition(
            error_code=0, partition_index=0, leader_id=1, leader_epoch=epoch, replica_nodes=[], isr_nodes=[]
        )
        return MetadataResponse(
            brokers=[], topics=[MetadataResponse.Topic(error_code=0, name="a", partitions=[partition])]
        )

    return answer


@pytest.mark.parametrize(
    ("do", "epoch"), [("older", 6), ("newer", 8), ("{what: older, by: 5}", 2), ("{what: older, by: 50}", 0)]
)
def test_another_epoch_is_said(tmp_path: Path, do: str, epoch: int) -> None:
    talk = FaultTalk(
        FaultFile(tmp_path, f"faults: [{{match: {{api: Metadata}}, do: {{leader_epoch: {do}}}}}]"), leading(7)
    )
    assert talk.ask(MetadataRequest(topics=None), 9).topics[0].partitions[0].leader_epoch == epoch


@pytest.mark.parametrize(
    ("epoch", "version", "do", "why"),
    [
        (0, 9, "older", "the answer has no partition that is meant and had an older epoch"),
        (7, 6, "newer", "the answer says no epoch that is meant"),
    ],
)
def test_where_no_other_can_be_said_nothing_fires(tmp_path: Path, epoch: int, version: int, do: str, why: str) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{match: {{api: Metadata}}, do: {{leader_epoch: {do}}}}}]")
    FaultTalk(faults, leading(epoch)).ask(MetadataRequest(topics=None), version)
    assert faults.told[0].endswith(why)
