"""Walks: along a path, and to all fields with a meaning."""

from __future__ import annotations

import pytest

from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import APIS, Api
from proxy.protocol.fiber import in_slices
from proxy.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest
from proxy.protocol.schema import blank, structs
from proxy.protocol.slices import ELEMENTS
from proxy.protocol.walk import Element, arrays, elements, leading, paths, structs_with, values
from proxy.protocol.wire import Meaning

Dir = AlterReplicaLogDirsRequest.Dir


def moved() -> AlterReplicaLogDirsRequest:
    """Two directories, with a topic and with two."""
    topics = {"a": ["one"], "b": ["two", "three"]}
    return AlterReplicaLogDirsRequest(
        dirs=[
            Dir(path=path, topics=[Dir.Topic(name=name, partitions=[0]) for name in names])
            for path, names in topics.items()
        ]
    )


def test_a_path_leads_to_the_array_in_each_element_above() -> None:
    request = moved()
    found = list(arrays("dirs.topics", 2, request))
    assert [array.chain for array in found] == [(request, request.dirs[0]), (request, request.dirs[1])]
    assert [array.path for array in found] == [("dirs", "topics")] * 2
    assert [array.elements for array in found] == [each.topics for each in request.dirs]


def test_a_chain_leads_on_from_what_is_above_it() -> None:
    request = moved()
    (array,) = arrays("topics", 2, request, request.dirs[1])
    assert array.link(array.elements[0]) == (request, request.dirs[1], request.dirs[1].topics[0])


def test_what_is_no_struct_is_linked_with_its_field() -> None:
    request = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1)
    (array,) = arrays("topic_names", 5, request)
    assert array.link("orders") == (request, Element(DeleteTopicsRequest.field["topic_names"], "orders"))


@pytest.mark.parametrize(
    ("path", "version", "topics"),
    [
        pytest.param("topics", 12, None, id="null"),
        pytest.param("topics.topic_id", 9, [MetadataRequest.Topic(name="orders")], id="not in this version"),
    ],
)
def test_what_is_not_there_leads_to_nothing(
    path: str, version: int, topics: list[MetadataRequest.Topic] | None
) -> None:
    assert not list(arrays(path, version, MetadataRequest(topics=topics)))


def test_values_are_given_one_by_one() -> None:
    assert list(values("dirs.topics.name", 2, moved())) == ["one", "two", "three"]
    assert list(values("dirs.topics.partitions", 2, moved())) == [0, 0, 0]


def test_a_path_may_lead_through_a_struct_that_is_no_array() -> None:
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="orders", partition_index=0)
    request = DescribeTopicPartitionsRequest(topics=[], cursor=cursor)
    assert list(values("cursor.topic_name", 0, request)) == ["orders"]


def test_paths_lead_to_every_field_of_a_meaning() -> None:
    assert paths(OffsetFetchRequest, Meaning.GROUP_ID) == ("group_id", "groups.group_id")
    assert paths(OffsetFetchRequest, Meaning.TOPIC_NAME, Meaning.TOPIC_ID) == (
        "topics.name",
        "groups.topics.name",
        "groups.topics.topic_id",
    )
    assert [field.name for field in leading(OffsetFetchRequest, Meaning.TOPIC_NAME)] == ["topics", "groups"]


@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_no_field_with_a_meaning_is_passed_by(api: Api) -> None:
    for message in (api.request, api.response):
        for meaning in Meaning:
            named = {(s, f.name) for s in structs(message) for f in s.fields if f.meaning is meaning}
            found = set()
            for path in paths(message, meaning):
                *above, name = path.split(".")
                cls = message
                for each in above:
                    cls = cls.field[each].kind
                found.add((cls, name))
            assert found == named


def test_holders_are_found_at_every_depth() -> None:
    brokers = [MetadataResponse.Broker(node_id=n, host="inside", port=1) for n in range(3)]
    assert structs_with(MetadataResponse(brokers=brokers, topics=[]), Meaning.HOST) == brokers
    partition = MetadataResponse.Topic.Partition(
        error_code=0, partition_index=0, leader_id=0, replica_nodes=[], isr_nodes=[]
    )
    topic = MetadataResponse.Topic(error_code=0, name="orders", partitions=[partition])
    response = MetadataResponse(brokers=[], topics=[topic])
    assert structs_with(response, Meaning.ERROR) == [response, topic, partition]
    assert structs_with(blank(FindCoordinatorResponse), Meaning.HOST) == [blank(FindCoordinatorResponse)]


def test_elements_are_counted_at_every_depth() -> None:
    partition = MetadataResponse.Topic.Partition(
        error_code=0, partition_index=0, leader_id=0, replica_nodes=[1, 2, 3], isr_nodes=[1]
    )
    topic = MetadataResponse.Topic(error_code=0, name="orders", partitions=[partition, partition])
    assert elements(MetadataResponse(brokers=[], topics=[topic, topic])) == 2 + 2 * 2 + 4 * 4
    assert elements(MetadataRequest(topics=None)) == 0
    assert elements(blank(MetadataResponse)) == 0


def test_a_long_walk_lets_the_others_go_on() -> None:
    request = AlterReplicaLogDirsRequest(dirs=[Dir(path="", topics=[]) for _ in range(3 * ELEMENTS)])
    slices = sum(1 for _ in in_slices(lambda: list(arrays("dirs.topics", 2, request))))
    assert slices >= 3
