"""The fixture kafka_faults in front of brokers with TLS and authentication."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from chaos.fixture.child import LaunchError
from chaos.fixture.faults import KafkaFaults
from chaos.fixture.launch import FaultProxy
from chaos.fixture.security import SaslSettings, TlsSettings, variable
from chaos.fixture.settings import ClusterSettings
from tests.real.faulted import write
from tests.real.secured.clients import As, confluent
from tests.real.secured.cluster import PASSWORDS, SecuredCluster
from tests.real.way import Way

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.real

TEST = """
from confluent_kafka import Producer

def test_a_lost_acknowledgement_over_tls_and_sasl(kafka_faults):
    producer = Producer({
        "bootstrap.servers": kafka_faults.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "alice",
        "sasl.password": "alice-secret",
        "enable.idempotence": True,
        "log_level": 0,
    })
    with kafka_faults.on("Produce", topic="alice-lost", principal="User:alice").after_broker().disconnect().times(1):
        producer.produce("alice-lost", b"order-1")
        assert producer.flush(30) == 0
"""

INI = "kafka_tls_ca = ca.pem\nkafka_sasl_mechanism = SCRAM-SHA-512\n"
LOGGED_IN = """
import time

from confluent_kafka import Producer

def written(bootstrap, topic):
    told = []
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    producer.produce(topic, b"1", on_delivery=lambda error, _: told.append(error and error.name()))
    assert producer.flush(30) == 0
    return told

def test_clients_are_alice_without_a_word(kafka_faults):
    with kafka_faults.on("Produce", topic="alice-logged-in").reply("NOT_LEADER_OR_FOLLOWER").times(1):
        assert written(kafka_faults.bootstrap, "alice-logged-in") == [None]
    assert written(kafka_faults.bootstrap, "bob-logged-in") == ["TOPIC_AUTHORIZATION_FAILED"]

def test_a_client_that_logs_in_all_the_same_is_refused(kafka_faults):
    told = []
    producer = Producer({
        "bootstrap.servers": kafka_faults.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "bob",
        "sasl.password": "bob-secret",
        "error_cb": told.append,
        "log_level": 0,
    })
    until = time.monotonic() + 60
    while not told and time.monotonic() < until:
        producer.poll(1)
    assert told[0].name() == "_AUTHENTICATION", told
"""


def test_a_test_of_a_project_goes_through_tls_with_sasl_of_its_clients(
    secured: SecuredCluster, pytester: pytest.Pytester
) -> None:
    (pytester.path / "ca.pem").write_text(secured.authority.file.read_text())
    pytester.makeini(f"[pytest]\nkafka_bootstrap = {secured.at('SEALED')}\nkafka_tls_ca = ca.pem\n")
    pytester.makepyfile(TEST)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


@contextmanager
def before(secured: SecuredCluster, listener: str, folder: Path, tls: TlsSettings | None) -> Iterator[FaultProxy]:
    """The proxy of the fixture, in front of a listener of the brokers."""
    proxy = FaultProxy(ClusterSettings(secured.at(listener), brokers=3, workers=1, tls=tls), folder)
    try:
        yield proxy
    finally:
        proxy.end()


def test_sasl_of_clients_passes_without_tls(secured: SecuredCluster, tmp_path: Path) -> None:
    with before(secured, "SASL", tmp_path, None) as proxy:
        alice = As(proxy.bootstrap, "PLAIN", "alice", PASSWORDS["alice"])
        faults = KafkaFaults(proxy, seed=7)
        with faults.on("Produce", topic="alice-fixture").reply("NOT_LEADER_OR_FOLLOWER").times(1) as moved:
            assert confluent(alice, "alice-fixture", [b"one"]) == [b"one"]
        assert moved.fired == 1


def test_a_client_that_does_not_log_in_finds_no_brokers_and_others_do(secured: SecuredCluster, tmp_path: Path) -> None:
    with before(secured, "SASL", tmp_path, None) as proxy:
        way = Way("proxy", proxy.bootstrap, {})
        assert write(way, "alice-unknown", 1, message_timeout_ms=2_000) == ["_MSG_TIMED_OUT"]
        alice = As(proxy.bootstrap, "PLAIN", "alice", PASSWORDS["alice"])
        assert confluent(alice, "alice-known", [b"one"]) == [b"one"]


def test_for_clients_that_cannot_log_in_the_fixture_does(
    secured: SecuredCluster, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pytester.path / "ca.pem").write_text(secured.authority.file.read_text())
    monkeypatch.setenv(variable("sasl_password"), PASSWORDS["alice"])
    pytester.makeini(f"[pytest]\nkafka_bootstrap = {secured.at('SEALED')}\n{INI}")
    pytester.makepyfile(LOGGED_IN)
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "--kafka-sasl-username", "alice").assert_outcomes(passed=2)


def test_to_the_brokers_clients_are_the_certificate_that_the_fixture_shows(
    secured: SecuredCluster, tmp_path: Path
) -> None:
    certificate, key = map(str, secured.authority.issue("alice", organization="Clients"))
    tls = TlsSettings(str(secured.authority.file), certificate, key)
    with before(secured, "CERTIFIED", tmp_path, tls) as proxy:
        faults, way = KafkaFaults(proxy, seed=7), Way("proxy", proxy.bootstrap, {})
        with faults.on("Produce", topic="alice-certified").reply("NOT_LEADER_OR_FOLLOWER").times(1) as moved:
            assert write(way, "alice-certified", 1) == [None]
        assert moved.fired == 1
        assert write(way, "bob-certified", 1, message_timeout_ms=5_000) == ["TOPIC_AUTHORIZATION_FAILED"]


def test_what_keeps_the_brokers_from_being_reached_is_told(secured: SecuredCluster, tmp_path: Path) -> None:
    trusted, wrong = TlsSettings(str(secured.authority.file), "", ""), SaslSettings("PLAIN", "alice", "no-secret")
    ways = {
        "TLS": ClusterSettings(secured.at("SEALED"), brokers=3, workers=1),
        "certificate": ClusterSettings(secured.at("SEALED"), 3, 1, TlsSettings("system", "", "")),
        "SASL_AUTHENTICATION_FAILED": ClusterSettings(secured.at("SEALED"), 3, 1, trusted, wrong),
    }

    def told(word: str) -> str:
        (folder := tmp_path / word).mkdir()
        with pytest.raises(LaunchError) as failed:
            FaultProxy(ways[word], folder)
        return str(failed.value)

    with ThreadPoolExecutor(len(ways)) as threads:  # each waits equally long for brokers
        for word, message in zip(ways, threads.map(told, ways), strict=True):
            assert "found no brokers within" in message
            assert word in message
            assert wrong.password not in message
