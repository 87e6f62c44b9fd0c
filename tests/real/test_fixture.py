"""The fixture kafka_faults in front of a real cluster: the example project, and behaviour of real brokers only."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from chaos.fixture.security import ENVIRONMENT
from tests.chaos.strangers import ROOT, Stranger, installed
from tests.real.cluster import Cluster
from tests.real.records import PATIENCE

pytestmark = pytest.mark.real

ONCE = """
from confluent_kafka import Producer
from orders import read_orders


def test_an_idempotent_producer_writes_once_though_an_ack_is_lost(kafka_faults):
    producer = Producer({"bootstrap.servers": kafka_faults.bootstrap, "enable.idempotence": True, "log_level": 0})
    with kafka_faults.on("Produce", topic="once").after_broker().disconnect().times(1) as lost:
        producer.produce("once", b"order-1")
        assert producer.flush(30) == 0
    assert lost.fired == 1
    assert [order.number for order in read_orders(kafka_faults.bootstrap, "once")] == ["order-1"]
"""


def without(cluster: Cluster, topic: str) -> None:
    """Check that no broker has this topic any more."""
    admins = [AdminClient({"bootstrap.servers": broker.address}) for broker in cluster.brokers.values()]
    if topic in admins[0].list_topics(timeout=PATIENCE).topics:
        admins[0].delete_topics([topic])[topic].result()
    until = time.monotonic() + PATIENCE
    while any(topic in admin.list_topics(timeout=PATIENCE).topics for admin in admins):
        assert time.monotonic() < until, f"{topic} is still there"


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    return installed(tmp_path_factory.mktemp("stranger"))


def test_the_example_passes_on_real_brokers(cluster: Cluster, stranger: Stranger, tmp_path: Path) -> None:
    without(cluster, "orders")  # other tests use this topic, and the example counts its records
    project = shutil.copytree(ROOT / "chaos" / "examples" / "orders", tmp_path / "orders")
    (project / "tests" / "test_once.py").write_text(ONCE)
    result = stranger.tests(project, **{ENVIRONMENT: cluster.bootstrap})
    assert result.returncode == 0, result.stdout + result.stderr
    assert "11 passed" in result.stdout
