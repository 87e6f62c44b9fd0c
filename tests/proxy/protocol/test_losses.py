"""Values that another version cannot express are reported before they are lost."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.protocol import messages as _messages  # noqa: F401
from proxy.protocol.codec import decode, encode
from proxy.protocol.losses import check_losses
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import APIS, Message, blank

ID = b"i" * 16


def produce(**topic: Any) -> ProduceRequest:
    partition = ProduceRequest.Topic.Partition(index=0, records=b"")
    return ProduceRequest(acks=1, timeout_ms=1, topic_data=[ProduceRequest.Topic(partition_data=[partition], **topic)])


def produced(**topic: Any) -> ProduceResponse:
    return ProduceResponse(responses=[ProduceResponse.Topic(partition_responses=[], **topic)])


def coordinator() -> FindCoordinatorResponse.Coordinator:
    return FindCoordinatorResponse.Coordinator(
        key="g", node_id=1, host="h", port=9092, error_code=0, error_message=None
    )


LOST: list[tuple[Message, int, str]] = [
    (produce(topic_id=ID), 12, "topic_data[0].topic_id"),
    (produce(name="orders"), 13, "topic_data[0].name"),
    (ProduceRequest(transactional_id="t", acks=1, timeout_ms=1, topic_data=[]), 2, "transactional_id"),
    (FindCoordinatorRequest(coordinator_keys=["g"]), 3, "coordinator_keys"),
    (FindCoordinatorRequest(key="g"), 4, "key"),
    (MetadataRequest(topics=None, include_topic_authorized_operations=True), 7, "include_topic_authorized_operations"),
    (produced(topic_id=ID), 12, "responses[0].topic_id"),
    (FindCoordinatorResponse(coordinators=[coordinator()]), 3, "coordinators"),
    (FindCoordinatorResponse(node_id=1, host="h", port=9092), 4, "node_id"),
]
KEPT: list[tuple[Message, int]] = [
    (produce(name="orders", topic_id=ID), 12),
    (produce(name="orders", topic_id=ID), 13),
    (produce(name="orders"), 3),
    (MetadataRequest(topics=None), 1),
    (produced(name="orders", topic_id=ID), 12),
    (MetadataResponse(brokers=[], topics=[], throttle_time_ms=7, cluster_id="c", controller_id=1), 1),
]


@pytest.mark.parametrize(("message", "version", "field"), LOST, ids=lambda each: str(each)[:30])
def test_what_would_be_lost_is_named(message: Message, version: int, field: str) -> None:
    with pytest.raises(ProtocolError, match=f"cannot be said in version {version}") as raised:
        check_losses(message, version)
    assert raised.value.field == field


@pytest.mark.parametrize(("message", "version"), KEPT, ids=lambda each: str(each)[:30])
def test_what_nobody_misses_may_be_left_out(message: Message, version: int) -> None:
    check_losses(message, version)


@pytest.mark.parametrize("api", APIS.values(), ids=str)
def test_defaults_are_no_loss_and_neither_is_what_a_version_has(api: Any) -> None:
    for cls in (api.request, api.response):
        for version in api.versions:
            check_losses(blank(cls), version)
            check_losses(decode(cls, version, encode(blank(cls), version)), version)
