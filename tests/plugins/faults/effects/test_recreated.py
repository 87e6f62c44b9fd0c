"""Topics with other topic ids."""

from pathlib import Path

import pytest

from proxy.protocol.messages.metadata import MetadataRequest
from tests.plugins.acl.talk import topic_id
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving

FAULT = "faults: [{match: {api: Metadata, topic: orders}, do: recreated}]"


def test_it_is_another_and_always_the_same(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), serving)
    once, again = (talk.ask(MetadataRequest(topics=None), 12) for _ in range(2))
    ids = {topic.name: topic.topic_id for topic in once.topics}
    assert ids["orders"] != topic_id("orders")
    assert ids["payments"] == topic_id("payments")
    assert {topic.name: topic.topic_id for topic in again.topics} == ids


@pytest.mark.parametrize(
    ("version", "topics", "why"),
    [
        (9, None, "Metadata v9 answers say no ids of topics"),
        (12, ["other"], "the answer has no topic that is meant"),
    ],
)
def test_where_there_is_no_id_nothing_fires(tmp_path: Path, version: int, topics: list[str] | None, why: str) -> None:
    faults = FaultFile(tmp_path, FAULT.replace("topic: orders", "version: 0-13") if topics else FAULT)
    asked = None if topics is None else [MetadataRequest.Topic(name=name) for name in topics]
    FaultTalk(faults, serving).ask(MetadataRequest(topics=asked), version)
    assert faults.told[0].endswith(why)
