"""Kafka's JSON notation, in both directions."""

import json
import random

import pytest

from proxy.protocol import ProtocolError, decode_request, decode_response, encode, from_json, to_json
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.schema import Message, Struct, StructType, blank, structs
from proxy.protocol.wire import Meaning
from tests.proxy.protocol.generate import EVERY, make


def test_every_message_in_every_version_comes_back_from_its_json():
    dice = random.Random(12)
    for cls, version in EVERY:
        message = make(cls, version, dice)
        text = json.dumps(to_json(message, version))
        assert encode(from_json(cls, version, json.loads(text)), version) == encode(message, version), (cls, version)


def test_names_are_camel_case_bytes_base64_and_uuids_base64_for_urls():
    assert to_json(SaslAuthenticateRequest(auth_bytes=b"\xff\xfe"), 1) == {"authBytes": "//4="}
    request = MetadataRequest(topics=[MetadataRequest.Topic(topic_id=b"\xff" * 16, name=None)])
    assert to_json(request, 12)["topics"] == [{"topicId": "_____________________w", "name": None}]


def test_all_fields_of_the_version_are_there_but_tagged_ones_at_their_default():
    answer = to_json(ApiVersionsResponse(error_code=0, api_keys=[]), 3)
    assert answer == {"errorCode": 0, "apiKeys": [], "throttleTimeMs": 0}


def test_what_json_cannot_name_is_kept_beside_it():
    answer = ApiVersionsResponse(error_code=0, api_keys=[], unknown_tags=[(40, b"new")])
    assert to_json(answer, 3)["_unknownTags"] == {"40": "bmV3"}
    assert from_json(ApiVersionsResponse, 3, to_json(answer, 3)) == answer


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "needs a JSON object"),
        ({}, "topics is missing"),
        ({"topics": 1}, "topics needs a JSON array, not 1"),
        ({"topics": None}, "topics is null, and may not be"),
        ({"topics": [{"name": 1}]}, r"topics\[0\].name is 1, which is no string"),
        ({"topics": [], "allowAutoTopicCreation": True}, "allowAutoTopicCreation is no field of this version"),
    ],
)
def test_json_that_is_no_message_names_the_field(value, complaint):
    with pytest.raises(ProtocolError, match="Metadata request v0: " + complaint):
        from_json(MetadataRequest, 0, value)


def test_the_front_door_takes_keys_and_bytes():
    request = decode_request(3, 1, bytes(4))
    assert type(request) is MetadataRequest
    assert type(decode_response(3, 0, bytes(8))) is MetadataResponse
    with pytest.raises(ProtocolError, match="no API has the key 4000"):
        decode_request(4000, 0, b"")


SECRET = [
    (cls, version)
    for cls, version in EVERY
    if any(field.meaning is Meaning.SECRET for struct in structs(cls) for field in struct.fields)
]


def filled(struct: type[Struct]) -> Struct:
    made = blank(struct)
    for field in struct.fields:
        if field.meaning is Meaning.SECRET:
            setattr(made, field.name, b"hunter2")
        elif isinstance(field.kind, StructType):
            inner = filled(field.kind)
            setattr(made, field.name, [inner] if field.is_array else inner)
    return made


@pytest.mark.parametrize(("cls", "version"), SECRET)
def test_every_field_that_the_schema_calls_secret_can_be_hidden(cls: type[Message], version: int) -> None:
    message = filled(cls)
    assert isinstance(message, Message)
    shown = json.dumps(to_json(message, version, secrets=False))
    assert "***" in shown
    assert "aHVudGVyMg" not in shown
    assert "aHVudGVyMg" in json.dumps(to_json(message, version))


def test_configs_that_are_passwords_can_be_hidden() -> None:
    resource = IncrementalAlterConfigsRequest.Resource
    configs = {
        "listener.name.x.ssl.keystore.password": "hunter2",
        "ssl.keystore.key": "hunter2",
        "ssl.truststore.certificates": "hunter2",
        "sasl.jaas.config": "hunter2",
        "retention.ms": "1000",
        "ssl.keystore.location": "there",
    }
    changes = [resource.Config(name=name, config_operation=0, value=value) for name, value in configs.items()]
    request = IncrementalAlterConfigsRequest(
        resources=[resource(resource_type=4, resource_name="1", configs=changes)], validate_only=False
    )
    shown = to_json(request, 1, secrets=False)["resources"][0]["configs"]
    assert [config["value"] for config in shown] == ["***"] * 4 + ["1000", "there"]
