"""Responses that faults change or make, read by Kafka's own classes: each effect, in each version it applies to."""

import pytest

from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import encode
from tests.plugins.faults.changed import changed
from tests.proxy.protocol.oracles.kafka import Kafka


@pytest.mark.real
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_kafka_reads_what_an_effect_made_of_an_answer(api: Api, kafka: Kafka, older_kafka: Kafka) -> None:
    for do, version, _, answer, why in changed(api):
        if why is not None:
            continue
        reader = kafka if version in kafka.versions(api.response) else older_kafka
        ours = encode(answer, version)
        assert reader.write(reader.read(api.response, version, ours), version) == ours, f"{do} v{version}"
