"""The resources of requests and responses, one by one."""

from itertools import count

from plugins.faults.about import at_level, of_request, subject
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.offset_commit import OffsetCommitRequest
from rules.match import Subject
from tests.proxy.protocol.generate import some

NAMES = {b"\1" * 16: "orders"}


def subjects(request: object, version: int) -> list[Subject]:
    return [thing.subject for thing in of_request(request, version, NAMES.get)]  # type: ignore[arg-type]


def test_partitions_are_of_their_topic_and_of_what_the_whole_request_says() -> None:
    topic = OffsetCommitRequest.Topic
    partitions = [topic.Partition(partition_index=index, committed_offset=5, committed_metadata="") for index in (0, 3)]
    request = OffsetCommitRequest(group_id="billing", topics=[topic(name="orders", partitions=partitions)])
    assert subjects(request, 8) == [Subject("orders", 0, "billing"), Subject("orders", 3, "billing")]
    assert subject(request, 8, NAMES.get) == Subject(group="billing")


def test_a_topic_is_known_by_its_id() -> None:
    partition = FetchRequest.Topic.Partition(partition=1, fetch_offset=0, partition_max_bytes=1)
    topics = [FetchRequest.Topic(topic_id=b"\1" * 16, partitions=[partition])]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, forgotten_topics_data=[], rack_id="")
    assert subjects(request, 13) == [Subject("orders", 1)]


def test_what_is_forgotten_of_a_fetch_is_not_fetched() -> None:
    request = some(FetchRequest, 12, count(1))
    assert len(list(of_request(request, 12, NAMES.get))) == 4  # two topics of two partitions


def test_a_request_that_lists_nothing_is_open() -> None:
    (thing,) = of_request(MetadataRequest(topics=None), 9, NAMES.get)
    assert (thing.subject, thing.is_open) == (Subject(), True)
    (nothing,) = of_request(MetadataRequest(topics=[]), 9, NAMES.get)
    assert not nothing.is_open


def test_a_key_is_a_group_or_a_transactional_id() -> None:
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b"])
    assert subjects(request, 4) == [Subject(group="a"), Subject(group="b")]
    assert subjects(FindCoordinatorRequest(key="t", key_type=1), 3) == [Subject(transactional_id="t")]
    assert subjects(FindCoordinatorRequest(key="t", key_type=2), 6) == [Subject()]


def test_names_alone_are_things_too() -> None:
    request = DeleteTopicsRequest(topic_names=["a", "b"], timeout_ms=1)
    assert subjects(request, 3) == [Subject("a"), Subject("b")]


def test_a_heartbeat_is_about_its_group_and_not_about_the_topics_that_it_lists() -> None:
    request = some(ConsumerGroupHeartbeatRequest, 0, count(1))
    assert subjects(request, 0) == [Subject(group=request.group_id)]


def test_the_structs_of_a_level_are_found_with_what_they_are_about() -> None:
    response = some(FetchResponse, 12, count(1))
    found = [it for _, it in at_level(response, 12, "partition", Subject(group="g"), NAMES.get)]
    assert found == [
        Subject(topic.topic, partition.partition_index, "g")
        for topic in response.responses
        for partition in topic.partitions
    ]
    assert [struct for struct, _ in at_level(response, 12, "top", Subject(), NAMES.get)] == [response]
