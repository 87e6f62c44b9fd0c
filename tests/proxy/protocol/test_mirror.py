"""From an element of a response to its element in the request."""

from proxy.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from proxy.protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from proxy.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from proxy.protocol.mirror import identity, mirrored
from proxy.protocol.schema import Field
from proxy.protocol.walk import Element, StructChain
from proxy.protocol.wire import NO_UUID


def list_offsets() -> ListOffsetsRequest:
    Topic = ListOffsetsRequest.Topic  # noqa: N806
    partition = Topic.Partition(partition_index=3, timestamp=1234)
    return ListOffsetsRequest(replica_id=-1, topics=[Topic(name="orders", partitions=[partition])])


def repeated(fields: tuple[Field, ...], version: int, chain: StructChain) -> dict[str, object]:
    """All that an answer to `chain` repeats."""
    found = {field.name: identity(field, version, chain) for field in fields}
    return {name: asked.value for name, asked in found.items() if asked is not None}


def test_a_chain_leads_from_the_request_to_the_element() -> None:
    request = list_offsets()
    (topic,) = mirrored(ListOffsetsResponse.field["topics"], 5, (request,))
    assert topic == (request, request.topics[0])
    (partition,) = mirrored(ListOffsetsResponse.Topic.field["partitions"], 5, topic)
    assert partition == (request, request.topics[0], request.topics[0].partitions[0])


def test_an_answer_repeats_the_partition_but_not_the_timestamp_that_was_asked_for() -> None:
    request = list_offsets()
    chain = (request, request.topics[0], request.topics[0].partitions[0])
    assert repeated(ListOffsetsResponse.Topic.Partition.fields, 5, chain) == {"partition_index": 3}


def test_names_that_are_no_structs_are_asked_with_their_field() -> None:
    request = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1)
    (chain,) = mirrored(DeleteTopicsResponse.field["responses"], 5, (request,))
    assert chain == (request, Element(DeleteTopicsRequest.field["topic_names"], "orders"))
    assert repeated(DeleteTopicsResponse.Topic.fields, 5, chain) == {"name": "orders"}


def test_of_several_arrays_the_one_that_the_version_has_is_mirrored() -> None:
    topics = [DeleteTopicsRequest.Topic(name="new", topic_id=NO_UUID)]
    request = DeleteTopicsRequest(topics=topics, topic_names=["old"], timeout_ms=1)
    responses = DeleteTopicsResponse.field["responses"]
    assert [chain[-1].value for chain in mirrored(responses, 5, (request,))] == ["old"]
    assert [chain[-1].name for chain in mirrored(responses, 6, (request,))] == ["new"]


def test_null_mirrors_nothing() -> None:
    request = DeleteTopicsRequest(timeout_ms=1)
    request.topics = None  # type: ignore[assignment]
    assert list(mirrored(DeleteTopicsResponse.field["responses"], 6, (request,))) == []


def test_the_topics_of_all_directories_come_in_one_row() -> None:
    Directory = AlterReplicaLogDirsRequest.Dir  # noqa: N806
    directories = [
        Directory(path=path, topics=[Directory.Topic(name=path + "-topic", partitions=[0])]) for path in ("a", "b")
    ]
    request = AlterReplicaLogDirsRequest(dirs=directories)
    chains = mirrored(AlterReplicaLogDirsResponse.field["results"], 2, (request,))
    assert [chain[-1].name for chain in chains] == ["a-topic", "b-topic"]


def test_what_an_inner_element_lacks_is_found_around_it() -> None:
    Topic = StopReplicaRequest.Topic  # noqa: N806
    request = StopReplicaRequest(
        controller_id=1, controller_epoch=1, topics=[Topic(name="orders", partition_indexes=[4, 5])]
    )
    chains = mirrored(StopReplicaResponse.field["partition_errors"], 1, (request,))
    answers = [repeated(StopReplicaResponse.PartitionError.fields, 1, chain) for chain in chains]
    assert answers == [{"topic_name": "orders", "partition_index": index} for index in (4, 5)]
