"""Real clients with certificates, through the real command, to librdkafka's mock cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from tests.certificates import Authority
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program

LOOPBACK = "127.0.0.1"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    authority = Authority(tmp_path)
    authority.issue("server", LOOPBACK)
    authority.issue("alice", organization="Example")
    return authority


CONFIGURATION = """\
clusters: {{main: {{bootstrap: [{bootstrap}]}}}}
listeners:
  clients:
    cluster: main
    bind: 127.0.0.1:{port}
    tls: {{certificate: server.pem, key: server.key, client_auth: required, ca: ca.pem}}
"""


@pytest.fixture
def bootstrap(authority: Authority) -> Iterator[str]:
    cluster = Producer({"test.mock.num.brokers": 2, "log_level": 0})  # as long as it lives, its brokers do
    brokers = [f'"{it.host}:{it.port}"' for it in cluster.list_topics(timeout=10).brokers.values()]
    port = free_block(8, LOOPBACK)
    file = authority.folder / "gateway.yaml"
    text = CONFIGURATION.format(bootstrap=", ".join(brokers), port=port)
    file.write_text(text)
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    program = Program("doorkeeper", command, authority.folder / "log", env={"PYTHONPATH": str(CHECKOUT)})
    try:
        program.expect("listening", str(port), within=60)
        yield f"{LOOPBACK}:{port}"
    finally:
        program.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:unclosed:ResourceWarning")  # in kafka-python itself
def test_librdkafka_and_kafka_python_produce_and_consume_with_certificates(
    bootstrap: str, authority: Authority
) -> None:
    folder = authority.folder
    files = {"ca": str(authority.file), "certificate": str(folder / "alice.pem"), "key": str(folder / "alice.key")}
    common = {"bootstrap.servers": bootstrap, "security.protocol": "SSL", "log_level": 0}
    common |= {f"ssl.{name}.location": file for name, file in files.items()}
    produced = Producer(common)
    for number in range(50):
        produced.produce("orders", str(number).encode(), str(number).encode())
    assert produced.flush(20) == 0
    group = common | {"group.id": "readers", "auto.offset.reset": "earliest"}
    consumer = Consumer(group)
    consumer.subscribe(["orders"])
    found: set[bytes] = set()
    while len(found) < 50:
        for message in consumer.consume(50, timeout=1):
            assert message.error() is None
            found.add(message.value())
    consumer.close()

    from kafka import KafkaConsumer, KafkaProducer  # its import warns

    python = {
        "bootstrap_servers": bootstrap,
        "security_protocol": "SSL",
        "ssl_cafile": files["ca"],
        "ssl_certfile": files["certificate"],
        "ssl_keyfile": files["key"],
    }
    with_python = KafkaProducer(**python)
    with_python.send("other", b"from python").get(timeout=20)
    with_python.close()
    reader = KafkaConsumer("other", auto_offset_reset="earliest", consumer_timeout_ms=20_000, **python)
    assert next(reader).value == b"from python"
    reader.close()
