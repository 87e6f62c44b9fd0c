"""Wrong offsets."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from tests.plugins.faults.fetching import batch, with_fault
from tests.plugins.faults.talking import FaultFile, FaultTalk

Topic = OffsetFetchResponse.Topic


def committed(*offsets: int) -> Any:
    def answer(request: Any, version: int) -> Any:
        each = [
            Topic.Partition(partition_index=at, committed_offset=offset, metadata="", error_code=0)
            for at, offset in enumerate(offsets)
        ]
        return OffsetFetchResponse(topics=[Topic(name="orders", partitions=each)])

    return answer


def asked(folder: Path, by: str, *offsets: int) -> tuple[list[int], FaultFile]:
    faults = FaultFile(folder, f"faults: [{{match: {{api: OffsetFetch, group: g}}, do: {{offset: {by}}}}}]")
    topics = [OffsetFetchRequest.Topic(name="orders", partition_indexes=list(range(len(offsets))))]
    answer = FaultTalk(faults, committed(*offsets)).ask(OffsetFetchRequest(group_id="g", topics=topics), 5)
    return [it.committed_offset for it in answer.topics[0].partitions], faults


@pytest.mark.parametrize(("by", "told"), [("-100", [900, 0, -1]), ("50", [1050, 57, -1]), ("none", [-1, -1, -1])])
def test_a_group_has_read_otherwise_far(tmp_path: Path, by: str, told: list[int]) -> None:
    assert asked(tmp_path, by, 1000, 7, -1)[0] == told


@pytest.mark.parametrize(("by", "offset"), [("none", -1), ("-100", 0)])
def test_where_none_is_said_or_none_would_change_nothing_fires(tmp_path: Path, by: str, offset: int) -> None:
    assert asked(tmp_path, by, offset)[1].told[0].endswith("no offset that is meant and could be changed")


def test_a_partition_seems_to_end_elsewhere(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{offset: -60}", batch(0, b"a"))
    assert (partition.high_watermark, partition.last_stable_offset) == (40, 40)
