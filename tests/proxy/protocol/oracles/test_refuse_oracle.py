"""A refusal equals the result of Kafka's own AbstractRequest.getErrorResponse for the same request.

Not compared are the texts of errors, which Kafka repeats in some responses only; the order of elements, for
which Kafka uses hash maps; and `OURS`. Errors about topics are tested elsewhere: brokers differ from that method there.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from py4j.java_gateway import get_field

from proxy.protocol.api import APIS, DESCRIBE_USER_SCRAM_CREDENTIALS, FETCH, LIST_PARTITION_REASSIGNMENTS, Api
from proxy.protocol.codec import decode, encode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.json import to_json
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Struct, StructType
from tests.proxy.protocol.generate import some
from tests.proxy.protocol.oracles.kafka import Kafka

OURS: dict[Api, set[str]] = {
    # No session: the client opens one with a full request. And 3.9.1 gives old clients null for no records, which
    # clients of that age cannot read; brokers of that age sent no bytes.
    FETCH: {"sessionId", "records"},
    # Kafka lists the partitions that were asked for without an error, as if they were being reassigned.
    LIST_PARTITION_REASSIGNMENTS: {"topics"},
    # Kafka repeats the error for each user, but without the user's name.
    DESCRIBE_USER_SCRAM_CREDENTIALS: {"results"},
}
ERRORS = [
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.NOT_CONTROLLER,
]


def kafka_refuses(kafka: Kafka, api: Api, version: int, body: bytes, error: ErrorCode) -> bytes:
    """The body of the answer that Kafka gives."""
    requests, protocol = kafka.common.requests, kafka.common.protocol
    body_in_java = kafka.java.nio.ByteBuffer.wrap(body)
    if kafka.versions(ProduceRequest).start > 0:  # from 4.0 on it is read by an accessor
        body_in_java = protocol.ByteBufferAccessor(body_in_java)
    parsed = requests.AbstractRequest.parseRequest(protocol.ApiKeys.forId(api.key), version, body_in_java)
    request = get_field(parsed, "request")
    answer = request.getErrorResponse(0, protocol.Errors.forCode(int(error)).exception())
    return kafka.write(answer.data(), version)


def comparable(api: Api, version: int, body: bytes) -> Any:
    """An answer's JSON without what is not compared."""
    leave_out = OURS.get(api, set()) | {"errorMessage"}

    def strip(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: strip(value) for key, value in node.items() if key not in leave_out}
        return sorted((strip(each) for each in node), key=json.dumps) if isinstance(node, list) else node

    told = to_json(decode(api.response, version, body), version)
    return strip(json.loads(told) if isinstance(told, str) else told)


@pytest.mark.real
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_kafka_refuses_a_request_in_the_same_words(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for version in api.versions:
        asked: Kafka = kafka if version in kafka.versions(api.request) else older_kafka
        request = some(api.request, version, count(1))
        body = encode(request, version)
        for error in ERRORS:
            refusal = refuse(api, version, request, error, "no")
            assert refusal is not None
            ours, theirs = encode(refusal, version), kafka_refuses(asked, api, version, body, error)
            assert comparable(api, version, ours) == comparable(api, version, theirs), f"v{version} {error.name}"


@pytest.mark.real
def test_kafka_has_no_answer_to_produce_without_acks(kafka: Kafka) -> None:
    for version in range(3, ProduceRequest.api.newest + 1):
        request = some(ProduceRequest, version, count(1))
        request.acks = 0
        body = kafka.java.nio.ByteBuffer.wrap(encode(request, version))
        protocol = kafka.common.protocol
        parsed = kafka.common.requests.AbstractRequest.parseRequest(
            protocol.ApiKeys.forId(0), version, protocol.ByteBufferAccessor(body)
        )
        assert get_field(parsed, "request").getErrorResponse(0, protocol.Errors.forCode(29).exception()) is None
        assert refuse(ProduceRequest.api, version, request, ErrorCode.TOPIC_AUTHORIZATION_FAILED) is None


@pytest.mark.real
@pytest.mark.parametrize("api", OURS, ids=repr)
def test_what_is_not_compared_exists(api: Api) -> None:
    def names(cls: type[Struct]) -> set[str]:
        inner = [names(field.kind) for field in cls.fields if isinstance(field.kind, StructType)]
        return {field.json for field in cls.fields}.union(*inner)

    assert OURS[api] <= names(api.response)
