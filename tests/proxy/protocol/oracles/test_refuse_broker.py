"""A refusal equals a real broker's response to a client without rights, and to a request for an unknown topic.

Not compared are the texts of errors, and facts `BESIDE` an error that only a broker knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from proxy.protocol.api import (
    ADD_PARTITIONS_TO_TXN,
    API_VERSIONS,
    APIS,
    CREATE_DELEGATION_TOKEN,
    CREATE_PARTITIONS,
    DELETE_RECORDS,
    DESCRIBE_CLUSTER,
    DESCRIBE_DELEGATION_TOKEN,
    DESCRIBE_LOG_DIRS,
    DESCRIBE_PRODUCERS,
    DESCRIBE_QUORUM,
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    ELECT_LEADERS,
    FETCH,
    LIST_GROUPS,
    LIST_OFFSETS,
    LIST_PARTITION_REASSIGNMENTS,
    LIST_TRANSACTIONS,
    METADATA,
    OFFSET_FOR_LEADER_EPOCH,
    PRODUCE,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    Api,
)
from proxy.protocol.codec import decode, encode
from proxy.protocol.json import to_json
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Field, Response, Struct, StructType, blank
from proxy.protocol.wire import BOOL, BYTES, FLOAT64, RECORDS, STRING, UUID, Meaning
from tests.proxy.protocol.oracles.broker import Client, DenyingBroker

pytestmark = pytest.mark.real

TOPIC = "orders"
ALWAYS_ALLOWED = {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE}
# These show what one may see, which is nothing, and say no error; DescribeLogDirs has a place for one from v3 on.
JUST_EMPTY = {LIST_GROUPS, LIST_TRANSACTIONS, DESCRIBE_LOG_DIRS, DESCRIBE_CLUSTER, DESCRIBE_DELEGATION_TOKEN}
BESIDE: dict[Api, set[str]] = {
    METADATA: {"brokers", "clusterId", "controllerId"},
    CREATE_DELEGATION_TOKEN: {"principalName", "tokenRequesterPrincipalName"},
    LIST_PARTITION_REASSIGNMENTS: {"topics"},  # the partitions asked for, as if they were being reassigned
    DESCRIBE_USER_SCRAM_CREDENTIALS: {"results"},  # the error again for each user, without the user's name
}
MISSING_FOR = [
    PRODUCE,
    FETCH,
    LIST_OFFSETS,
    DELETE_RECORDS,
    OFFSET_FOR_LEADER_EPOCH,
    ADD_PARTITIONS_TO_TXN,
    CREATE_PARTITIONS,
    ELECT_LEADERS,
    DESCRIBE_QUORUM,
    DESCRIBE_PRODUCERS,
]
# Values that a broker takes, where a zero or an "x" would be an error of another kind.
VALID: dict[str, Any] = {
    "acks": -1,
    "count": 5,
    "entity_type": "user",
    "feature": "metadata.version",
    "iterations": 4096,
    "max_bytes": 1000,
    "max_wait_ms": 1000,
    "mechanism": 1,
    "min_bytes": 1,
    "num_partitions": 1,
    "operation": 3,
    "partition_max_bytes": 1000,
    "pattern_type_filter": 3,
    "permission_type": 3,
    "rebalance_timeout_ms": 1000,
    "replication_factor": 1,
    "resource_pattern_type": 3,
    "resource_type": 2,
    "resource_type_filter": 2,
    "session_epoch": -1,
    "session_timeout_ms": 10000,
    "timeout_ms": 1000,
    "timestamp": -1,
    "transaction_timeout_ms": 1000,
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("denying")) as broker:
        yield broker


@pytest.fixture(scope="module")
def topic_id(broker: DenyingBroker) -> bytes:
    """The id of the topic, which is made here."""
    Topic = CreateTopicsRequest.Topic  # noqa: N806
    topics = [Topic(name=TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=[])]
    with Client(broker.trusted) as client:
        answer = client.ask(CreateTopicsRequest(topics=topics, timeout_ms=10_000), 7)
    assert isinstance(answer, CreateTopicsResponse)
    return answer.topics[0].topic_id


@pytest.fixture(scope="module")
def served(broker: DenyingBroker) -> dict[int, range]:
    """What the broker speaks."""
    with Client(broker.trusted) as client:
        answer = client.ask(ApiVersionsRequest(client_software_name="test", client_software_version="1"), 3)
    assert isinstance(answer, ApiVersionsResponse)
    # Produce is advertised from v0 on, but served from v3 on only (KAFKA-18659).
    return {
        each.api_key: range(each.min_version if each.api_key else 3, each.max_version + 1) for each in answer.api_keys
    }


def asking(cls: Any, version: int, known: dict[Meaning, Any]) -> Any:
    """A message with one element in each array, and values that make sense."""
    struct = blank(cls)
    for field in cls.fields:
        if field.present(version) and field.tag is None:
            value = one(field, version, known)
            setattr(struct, field.name, [value] if field.is_array else value)
    return struct


def one(field: Field, version: int, known: dict[Meaning, Any]) -> Any:
    if field.meaning is Meaning.TOPIC_NAME and field.may_be_null(version) and not field.is_array:
        return None  # where a topic can be named by its id, it is
    if field.meaning in known:
        return known[field.meaning]
    if field.name in VALID:
        return VALID[field.name]
    if field.may_be_null(version) and not field.is_array:
        return None
    if isinstance(field.kind, StructType):
        return asking(field.kind, version, known)
    return {BOOL: False, STRING: "x", BYTES: b"x", RECORDS: b"", FLOAT64: 1.0, UUID: b"x" * 16}.get(field.kind, 0)


def errors(struct: Struct, version: int) -> Iterator[int]:
    """Every error code in an answer that is one."""
    for field in struct.fields:
        value = getattr(struct, field.name)
        if field.present(version) and field.meaning is Meaning.ERROR and value:
            yield value
        elif isinstance(field.kind, StructType) and value is not None:
            for inner in value if field.is_array else [value]:
                yield from errors(inner, version)


def comparable(answer: Response, version: int) -> Any:
    leave_out = BESIDE.get(answer.api, set()) | {"errorMessage"}

    def strip(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: strip(value) for key, value in node.items() if key not in leave_out}
        return [strip(each) for each in node] if isinstance(node, list) else node

    told = to_json(answer, version)
    return strip(json.loads(told) if isinstance(told, str) else told)


def known(topic: str, topic_id: bytes) -> dict[Meaning, Any]:
    return {Meaning.TOPIC_NAME: topic, Meaning.TOPIC_ID: topic_id, Meaning.BROKER_ID: 1, Meaning.REPLICA_ID: -1}


def compare(request: Any, version: int, answer: Response, error: int) -> None:
    refusal = refuse(request.api, version, request, error)
    assert refusal is not None
    ours = decode(request.api.response, version, encode(refusal, version))
    assert comparable(ours, version) == comparable(answer, version), f"v{version}"


@pytest.mark.parametrize("api", [api for api in APIS.values() if api not in ALWAYS_ALLOWED], ids=repr)
def test_a_broker_denies_in_the_same_words(
    api: Api, broker: DenyingBroker, served: dict[int, range], topic_id: bytes
) -> None:
    if api.key not in served:
        pytest.skip("no broker of this release serves it")
    for version in served[api.key]:
        request = asking(api.request, version, known(TOPIC, topic_id))
        with Client(broker.denied) as client:
            client.log_in()
            answer = client.ask(request, version)
        error = next(errors(answer, version), 0)
        if error == 0:
            assert api in JUST_EMPTY
        else:
            compare(request, version, answer, error)


@pytest.mark.parametrize("api", MISSING_FOR, ids=repr)
def test_a_broker_misses_a_topic_in_the_same_place(api: Api, broker: DenyingBroker, served: dict[int, range]) -> None:
    for version in served[api.key]:
        request = asking(api.request, version, known("missing", b"m" * 16))
        with Client(broker.trusted) as client:
            answer = client.ask(request, version)
        error = next(errors(answer, version), 0)
        assert error in (3, 100), f"v{version}: {answer}"  # an unknown topic, by name or by id
        compare(request, version, answer, error)
