"""Structs: the values of their fields, and refused values."""

import pytest

from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.structs import Struct, camel, structs
from proxy.protocol.wire import Meaning


def test_a_field_that_was_never_set_reads_as_its_default():
    request = FetchRequest(max_wait_ms=1, min_bytes=2, topics=[])
    assert (request.max_bytes, request.session_epoch, request.rack_id, request.cluster_id) == (0x7FFFFFFF, -1, "", None)
    assert request.forgotten_topics_data == []
    assert not request.has("max_bytes")


def test_a_default_list_belongs_to_its_message_alone():
    one, other = (FetchRequest(max_wait_ms=1, min_bytes=2, topics=[]) for _ in range(2))
    one.forgotten_topics_data.append(FetchRequest.ForgottenTopic(partitions=[1]))
    assert len(one.forgotten_topics_data) == 1
    assert other.forgotten_topics_data == []


def test_a_field_of_every_version_must_be_given():
    with pytest.raises(TypeError, match="MetadataResponse needs the field 'brokers'"):
        MetadataResponse(topics=[])


def test_a_misspelt_field_is_refused_wherever_it_is_used():
    with pytest.raises(TypeError, match="no field 'topic'"):
        MetadataRequest(topic=[])
    with pytest.raises(AttributeError, match="no field 'topic'"):
        MetadataRequest(topics=[]).topic  # noqa: B018
    with pytest.raises(AttributeError):
        MetadataRequest(topics=[]).topic = []


def test_a_secret_is_not_shown_and_records_are_only_counted():
    assert repr(SaslAuthenticateRequest(auth_bytes=b"hush")) == "SaslAuthenticateRequest(auth_bytes=***)"
    partition = FetchResponse.Topic.Partition(
        partition_index=0, error_code=0, high_watermark=0, aborted_transactions=None, records=b"12345"
    )
    assert "records=<5 bytes>" in repr(partition)


def test_messages_are_equal_by_what_they_say():
    assert MetadataRequest(topics=None) == MetadataRequest(topics=None, allow_auto_topic_creation=True)
    assert MetadataRequest(topics=None) != MetadataRequest(topics=[])
    assert MetadataRequest(topics=None) != MetadataRequest(topics=None, unknown_tags=[(1, b"")])


def test_a_type_that_is_not_on_the_wire_is_refused_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Odd.names: .* is no wire type"):

        class Odd(Struct):
            names: dict[str, str]


def test_names_in_json_are_camel_case():
    assert camel("v3_and_below_topics") == "v3AndBelowTopics"


def test_a_walk_finds_every_struct_of_a_message_once():
    names = [struct.__name__ for struct in structs(MetadataResponse)]
    assert names == ["MetadataResponse", "Broker", "Topic", "Partition"]
    assert MetadataResponse.Broker.field["host"].meaning is Meaning.HOST
