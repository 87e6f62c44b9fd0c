"""Every request in every version is refused with the response that Kafka's own classes would give.

The reference is `AbstractRequest.getErrorResponse`, with errors about the whole request. Not compared:
* the order of elements, and topics without partitions: Kafka puts them through hash maps, some of which lose them;
* error messages, which are for people;
* null records: Kafka 4 has empty ones where 3 had null;
* parts of the request that Kafka repeats beside a top-level error (`REPEATED`), which no client reads there.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from proxy.protocol import decode_response, to_json
from proxy.protocol.api import (
    APIS,
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    LIST_PARTITION_REASSIGNMENTS,
    Api,
)
from proxy.protocol.codec import encode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Request
from proxy.protocol.wire import INT32, INT64, RECORDS, STRING
from tests.proxy.protocol.generate import make, structs_of
from tests.proxy.protocol.oracles.kafka import Kafka

ERRORS = [
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNKNOWN_SERVER_ERROR,
]
REPEATED = {LIST_PARTITION_REASSIGNMENTS: "topics", DESCRIBE_USER_SCRAM_CREDENTIALS: "results"}

# Numbers that stand for something: Kafka refuses to read a request where they stand for nothing.
MEANINGFUL = {
    "operation": 3,
    "pattern_type_filter": 3,
    "permission_type": 3,
    "resource_pattern_type": 3,
    "resource_type": 2,
    "resource_type_filter": 2,
    "security_protocol": 0,
}


def sensible(api: Api, version: int, dice: random.Random) -> Request:
    """A request whose elements can be told apart, and which Kafka's classes take."""
    request: Request = make(api.request, version, dice)
    numbers = itertools.count(1)
    for struct in structs_of(request):
        for field in struct.fields:
            if not struct.has(field.name):
                continue
            value = getattr(struct, field.name)
            if field.name in MEANINGFUL:
                value = MEANINGFUL[field.name]
            elif field.kind is STRING and value is not None:
                value = [f"n{next(numbers)}" for _ in value] if field.is_array else f"n{next(numbers)}"
            elif field.kind in (INT32, INT64) and value is not None:
                value = [next(numbers) for _ in value] if field.is_array else next(numbers)
            elif field.kind is RECORDS and value is None:
                value = b""
            setattr(struct, field.name, value)
    odd(request)
    return request


def odd(request: Request) -> None:
    """Make ordinary what a proxy answers otherwise, or Kafka not at all."""
    if isinstance(request, ProduceRequest):
        request.acks = 1  # 0 has no answer
    elif isinstance(request, FetchRequest):
        request.session_id = 0  # we never answer with another
    elif isinstance(request, MetadataRequest):
        for topic in request.topics or ():
            topic.name = topic.name or "only an id"  # a broker answers null where these classes have the empty name


def compared(value: Any) -> Any:
    """JSON without what is not compared."""
    if isinstance(value, dict):
        value = {name: compared(inner) for name, inner in value.items() if name != "errorMessage"}
        if value.get("records", "") is None:
            value["records"] = ""
        return value
    if isinstance(value, list):
        kept = [compared(item) for item in value if not is_empty(item)]
        return sorted(kept, key=lambda item: json.dumps(item, sort_keys=True))
    return value


def is_empty(item: Any) -> bool:
    """A topic without partitions."""
    return isinstance(item, dict) and any(name.startswith("partition") and inner == [] for name, inner in item.items())


@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_kafka_refuses_in_the_same_way(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for version, error in itertools.product(api.versions, ERRORS):
        request = sensible(api, version, random.Random(f"{api} {version} {error}"))
        asked = kafka if version in kafka.versions(api.request) else older_kafka
        refusal = asked.refuse(api, version, encode(request, version), error)
        theirs = to_json(decode_response(api.key, version, refusal), version)
        answer = refuse(api, version, request, error)
        assert answer is not None
        ours = to_json(decode_response(api.key, version, encode(answer, version)), version)
        if api in REPEATED:
            del theirs[REPEATED[api]], ours[REPEATED[api]]
        assert compared(ours) == compared(theirs), (api, version, error)
