"""Errors that faults put into answers, as Kafka's own classes read them."""

import json
from typing import Any

import pytest

from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import encode
from proxy.protocol.json import to_json
from tests.plugins.faults.injected import injected
from tests.proxy.protocol.oracles.kafka import Kafka


@pytest.mark.real
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_kafka_reads_the_injected_error_where_it_was_put(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for version, level, side, answer, _ in injected(api):
        if answer is None:
            continue
        reader: Kafka = kafka if version in kafka.versions(api.response) else older_kafka
        theirs = reader.to_json(reader.read(api.response, version, encode(answer, version)), version)
        ours: Any = to_json(answer, version)
        ours = json.loads(ours) if isinstance(ours, str) else ours
        assert json.loads(theirs) == ours, f"v{version} {level} {side}"
