"""Kafka Streams members of streams groups (KIP-1071) rejoin after errors that the member is unknown or fenced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.doorkeeper import Doorkeeper
from tests.real.faulted import messages, write
from tests.real.java_clients import JavaClients
from tests.real.records import PATIENCE, patiently
from tests.real.topics import create
from tests.real.way import Way

pytestmark = pytest.mark.real

KINDS = {"rebalance": "rebalance", "expel": "expel", "unknown": "{fenced: member}"}
FAULTS = [
    f"{{name: {kind}, match: {{api: StreamsGroupHeartbeat, group: {kind}-*}}, when: {{nth: 4}}, do: {do}}}"
    for kind, do in KINDS.items()
]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaClients]:
    clients = JavaClients("4.3.1")
    yield clients
    clients.close()


@contextmanager
def copying(java: JavaClients, way: Way, group: str, source: str, sink: str, folder: Path) -> Iterator[None]:
    """An application that copies a topic to another."""
    streams = java.jvm.org.apache.kafka.streams
    builder = streams.StreamsBuilder()
    builder.stream(source).to(sink)
    serde = "org.apache.kafka.common.serialization.Serdes$ByteArraySerde"
    more = {
        "application_id": group,
        "group_protocol": "streams",
        "default_key_serde": serde,
        "default_value_serde": serde,
        "state_dir": folder,
        "commit_interval_ms": 100,
        "auto_offset_reset": "earliest",
    }
    application = streams.KafkaStreams(builder.build(), java.settings(way, more))
    application.start()
    try:
        yield
    finally:
        application.close()


WRITTEN = (b"0", b"0", b"1")  # the values in the source, written in two parts


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_is_told_it_is_none_joins_again_and_goes_on(
    faulted: Doorkeeper, java: JavaClients, kind: str, tmp_path: Path
) -> None:
    way = faulted.way
    source, sink = create(way, f"{kind}-source", 1), create(way, f"{kind}-sink", 1)
    write(way, source, 1)
    with copying(java, way, way.unique(kind), source, sink, tmp_path):
        faulted.program.expect("fault fired", f"fault={kind}", within=PATIENCE)
        write(way, source, 2)
        for _ in patiently("what was written since is copied, too"):
            copied = iter([message.value() for message in messages(way, sink)])
            if all(value in copied for value in WRITTEN):  # in this order; uncommitted records are copied again
                break
