"""The audit topic of a cluster that requires authentication: the proxy logs in with its configured credentials."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from tests.real.ports import free_block
from tests.real.secured.cluster import PASSWORDS, SecuredCluster
from tests.real.secured.guarding import FREE_PORTS, HOST, Proxy

pytestmark = pytest.mark.real

SECONDS = 60.0
SESSION = 8.0  # the session in seconds, at the listener SHORT


def configuration(secured: SecuredCluster, listener: str, topic: str, folder: Path, **more: object) -> dict[str, Any]:
    """The configuration of a proxy that logs in to the brokers as `doorkeeper`."""
    sasl = {"mechanism": "SCRAM-SHA-512", "username": "doorkeeper", "password": PASSWORDS["doorkeeper"]}
    return {
        "clusters": {"main": {"bootstrap": secured.at(listener).split(","), "sasl": sasl, **more}},
        "listeners": {"clients": {"cluster": "main", "bind": f"{HOST}:{free_block(FREE_PORTS, HOST)}"}},
        "plugins": [{"audit": {"journal": str(folder / "journal"), "topic": {"name": topic}}}],
    }


def create(secured: SecuredCluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": secured.bootstrap})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()


def read(secured: SecuredCluster, topic: str) -> list[dict[str, Any]]:
    """All events of the topic, up to the end of its one chain, each once: a resent event has the same id."""
    settings = {"bootstrap.servers": secured.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    found: dict[str, dict[str, Any]] = {}
    with closing(Consumer(settings)) as consumer:
        consumer.subscribe([topic])
        while not any(event["kind"] == "journal_closed" for event in found.values()):
            message = consumer.poll(SECONDS)
            assert message is not None
            if not message.error():
                event = json.loads(message.value())
                found[event["id"]] = event["data"]
    return list(found.values())


@pytest.mark.parametrize("listener", ["SEALED", "SHORT"])
def test_the_proxy_writes_as_itself(secured: SecuredCluster, tmp_path: Path, listener: str) -> None:
    """Over TLS, and where it must re-authenticate every eight seconds."""
    topic = f"doorkeeper-audit-{listener.lower()}"
    create(secured, topic)
    more = {"tls": {"ca": str(secured.authority.file)}} if listener == "SEALED" else {}
    settings = configuration(secured, listener, topic, tmp_path, **more)
    with Proxy(tmp_path, settings) as proxy:
        admin = AdminClient({"bootstrap.servers": settings["listeners"]["clients"]["bind"]})
        end = time.monotonic() + (SESSION + 1 if listener == "SHORT" else 0)
        while admin.list_topics(timeout=SECONDS) and time.monotonic() < end:
            pass
    journal = [json.loads(line) for path in segments(tmp_path / "journal") for line in segment_lines(path)]
    assert read(secured, topic) == journal
    assert not proxy.told("audit topic cannot be written")


def test_a_topic_that_the_proxy_may_not_write_is_one_line(secured: SecuredCluster, tmp_path: Path) -> None:
    create(secured, "forbidden-audit")
    with Proxy(tmp_path, configuration(secured, "SASL", "forbidden-audit", tmp_path)) as proxy:
        line = proxy.program.expect("audit topic cannot be written", within=SECONDS)
    assert "topic forbidden-audit of cluster main: TOPIC_AUTHORIZATION_FAILED; give the proxy's user the right" in line
    assert len(proxy.told("audit topic cannot be written")) == 1
    assert len(proxy.told("audit events not sent at the end")) == 1
