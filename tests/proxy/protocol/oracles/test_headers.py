"""Headers equal those of Kafka's own classes: their versions and their bytes."""

from __future__ import annotations

import random

import pytest

from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from proxy.protocol.header import RequestHeader, ResponseHeader
from proxy.protocol.schema import Message
from tests.proxy.protocol.generate import make
from tests.proxy.protocol.oracles.kafka import Kafka


@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_headers_travel_as_kafka_says(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for version in api.versions:
        asked = kafka if version in kafka.versions(api.request) else older_kafka
        kind = asked.common.message.ApiMessageType.fromApiKey(api.key)
        assert api.request_header(version) == kind.requestHeaderVersion(version), (api, version)
        assert api.response_header(version) == kind.responseHeaderVersion(version), (api, version)


@pytest.mark.parametrize(
    ("cls", "version", "theirs"),
    [
        (RequestHeader, 1, "RequestHeaderData"),
        (RequestHeader, 2, "RequestHeaderData"),
        (ResponseHeader, 0, "ResponseHeaderData"),
        (ResponseHeader, 1, "ResponseHeaderData"),
    ],
)
def test_kafka_reads_and_writes_the_same_headers(cls: type[Message], version: int, theirs: str, kafka: Kafka) -> None:
    dice = random.Random(theirs)
    for _ in range(20):
        header = make(cls, version, dice)
        if cls.is_flexible(version):
            header.unknown_tags = [(0, b"new"), (500, b"")]
        body = encode(header, version)
        message = getattr(kafka.common.message, theirs)()
        kafka.fill(message, version, body)
        assert kafka.write(message, version) == body
        assert decode(cls, version, body) == header
