"""Errors that faults put into responses, read by Kafka's own classes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.faults.effect import FaultSide
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import encode
from proxy.protocol.json import to_json
from tests.plugins.faults.injected import CODE, injected
from tests.proxy.protocol.oracles.kafka import Kafka

KINDS = ("errorCode", "ErrorCode")


def read(api: Api, version: int, answer: Any, kafka: Kafka, older_kafka: Kafka) -> Any:
    """The answer as Kafka would log it."""
    reader = kafka if version in kafka.versions(api.response) else older_kafka
    return json.loads(reader.to_json(reader.read(api.response, version, encode(answer, version)), version))


@pytest.mark.real
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_kafka_reads_the_injected_error_where_it_was_put(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for version, level, side, answer, _ in injected(api):
        if answer is None:
            continue
        theirs = read(api, version, answer, kafka, older_kafka)
        ours: Any = to_json(answer, version)
        ours = json.loads(ours) if isinstance(ours, str) else ours
        assert theirs == ours, f"v{version} {level} {side}"


@pytest.mark.real
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_every_error_that_kafka_knows_in_an_answer_can_be_injected(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    """Kafka's own field names say where an answer has errors: in some injected answer each of them is the error."""
    there: set[tuple[int, str]] = set()
    said: set[tuple[int, str]] = set()
    for version, _, side, answer, _ in injected(api):
        if answer is not None and side is FaultSide.AFTER_BROKER:
            for place, value in error_codes(read(api, version, answer, kafka, older_kafka)):
                there.add((version, place))
                if value == CODE:
                    said.add((version, place))
    assert there == said


def error_codes(node: Any, place: str = "") -> Iterator[tuple[str, int]]:
    """Every error code in Kafka's JSON: where it stands, and its value."""
    if isinstance(node, list):
        for element in node:
            yield from error_codes(element, place + "[]")
    elif isinstance(node, dict):
        for name, value in node.items():
            if name.endswith(KINDS):
                yield f"{place}.{name}", value
            else:
                yield from error_codes(value, f"{place}.{name}")
