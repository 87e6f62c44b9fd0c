"""Kafka's JSON notation, there and back."""

import json
import random

import pytest

from proxy.protocol import ProtocolError, decode_request, decode_response, encode, from_json, to_json
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
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
