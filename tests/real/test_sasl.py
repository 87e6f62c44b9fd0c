"""Real clients, a real broker that wants to know who they are, and Doorkeeper between them in each of its ways.

A client may touch only what begins with its own name, so what is written to a topic was written by the right one.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.proxy.auth.issuer import Issuer
from tests.real import sasl_clients
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.records import patiently
from tests.real.sasl_clients import CLIENTS, As
from tests.real.secured import MECHANISMS, PASSWORDS, SecuredNode, unsecured_token

pytestmark = [pytest.mark.real]

HOST = "127.0.0.1"
START = 30.0
WAYS = ("direct", "inspected", "terminated", "mapped", "tokens")
VALUES = [b"%d" % number for number in range(20)]

CONFIGURATION = """\
clusters:
  theirs: {{bootstrap: ["{sasl}"]}}
  ours: {{bootstrap: ["{short}"], sasl: {{mechanism: SCRAM-SHA-512, username: doorkeeper, password: "{password}"}}}}
  each:
    bootstrap: ["{sasl}"]
    sasl:
      mechanism: SCRAM-SHA-256
      username: doorkeeper
      password: "{password}"
      identities:
        User:alice: {{username: alice, password: "{alice}"}}
        User:bob: {{username: bob, password: "{bob}"}}
  tokened:
    bootstrap: ["{short}"]
    sasl:
      mechanism: OAUTHBEARER
      oauthbearer: {{endpoint: "{endpoint}", client_id: doorkeeper, client_secret: "{password}"}}
listeners:
  tokens:
    cluster: tokened
    bind: "{host}:{tokens}"
    sasl:
      mechanisms: [OAUTHBEARER]
      session: 2s
      oauthbearer: {{jwks: keys.json, issuer: "https://issuer", audience: kafka}}
  inspected: {{cluster: theirs, bind: "{host}:{inspected}"}}
  terminated: {{cluster: ours, bind: "{host}:{terminated}", sasl: {our_sasl}}}
  mapped: {{cluster: each, bind: "{host}:{mapped}", sasl: {our_sasl}}}
"""


class TokenEndpoint(ThreadingHTTPServer):
    """Gives the proxy tokens that hold for three seconds."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            token = unsecured_token("doorkeeper", 3.0, time.time())
            self.wfile.write(json.dumps({"access_token": token, "expires_in": 3}).encode())

        def log_message(self, *arguments: object) -> None:
            pass


class Guarding:
    """Doorkeeper in front of the node, in each of its ways."""

    def __init__(self, folder: Path, node: SecuredNode, endpoint: str) -> None:
        self.folder = folder
        self.issuer = Issuer()
        (folder / "keys.json").write_text(self.issuer.jwks)
        self.users = folder / "users.yaml"
        save(self.users, {name: verifiers(password) for name, password in PASSWORDS.items()})
        self.ports = {way: free_block(4, HOST) for way in WAYS[1:]}
        self.node = node
        mechanisms = ", ".join(MECHANISMS[:3])
        text = CONFIGURATION.format(
            sasl=node.sasl,
            short=node.short,
            host=HOST,
            endpoint=endpoint,
            password=PASSWORDS["doorkeeper"],
            alice=PASSWORDS["alice"],
            bob=PASSWORDS["bob"],
            our_sasl=f"{{mechanisms: [{mechanisms}], credentials: users.yaml, session: 2s}}",
            **self.ports,
        )
        (folder / "gateway.yaml").write_text(text)
        command = [sys.executable, "-m", "proxy", "run", str(folder / "gateway.yaml"), "--log", "json", "--verbose"]
        self.program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
        for port in self.ports.values():
            self.program.expect("listening", str(port), within=START)

    def at(self, way: str) -> str:
        """Where a client begins that goes this way."""
        return self.node.sasl if way == "direct" else f"{HOST}:{self.ports[way]}"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("secured") / "node") as node:
        yield node
    sasl_clients.close()


@pytest.fixture(scope="module")
def guarding(node: SecuredNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarding]:
    with TokenEndpoint((HOST, 0), TokenEndpoint.Handler) as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        url = f"http://{HOST}:{endpoint.server_port}/"
        guarding = Guarding(tmp_path_factory.mktemp("guarding"), node, url)
        yield guarding
        guarding.program.stop()
        endpoint.shutdown()


def comes(way: str, mechanism: str) -> bool:
    """Is there such a way for this mechanism?"""
    return way in ("direct", "inspected") or (mechanism == "OAUTHBEARER") == (way == "tokens")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_works_and_is_known(guarding: Guarding, client: str, way: str, mechanism: str) -> None:
    if not comes(way, mechanism):
        pytest.skip("a mechanism of brokers' own here")
    if client == "java-0.11.0.3" and mechanism == "OAUTHBEARER":
        pytest.skip("older than that")
    password = PASSWORDS["alice"]
    if way == "tokens":
        if client.startswith("java"):
            pytest.skip("its own tokens are unsigned")
        password = guarding.issuer.token(time.time())
    who = As(guarding.at(way), mechanism, "alice", password)
    taken = CLIENTS[client](who, f"alice-{client}-{way}-{mechanism}", VALUES)
    assert taken == VALUES or sorted(taken) == sorted(VALUES)
    if way != "direct":
        guarding.program.expect(
            '"client authenticated"', f'"listener": "{way}"', '"User:alice"', f'"{mechanism}"', within=START
        )


@pytest.mark.parametrize("wrong", [{"aud": "other"}, {"exp": 1}, {"iss": "https://other"}])
def test_a_token_that_does_not_count_is_refused(guarding: Guarding, wrong: dict[str, object]) -> None:
    token = guarding.issuer.token(time.time(), **wrong)
    outcome = CLIENTS["librdkafka"](As(guarding.at("tokens"), "OAUTHBEARER", "alice", token), "alice-none", VALUES)
    assert "invalid_token" in str(outcome)


@pytest.mark.parametrize("way", WAYS[:4])
def test_nobody_touches_what_is_anothers(guarding: Guarding, way: str) -> None:
    """Terminated, the broker knows but the proxy, who may do everything: there rules of ours would decide."""
    bob = As(guarding.at(way), "SCRAM-SHA-256", "bob", PASSWORDS["bob"])
    outcome = CLIENTS["kafka-python"](bob, f"alice-of-{way}", VALUES)
    if way == "terminated":
        assert sorted(outcome) == sorted(VALUES)
    else:
        assert "TopicAuthorizationFailed" in str(outcome)


@pytest.mark.parametrize("user", ["alice", "nobody"])
@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
@pytest.mark.parametrize("client", ["librdkafka", "java-4.4.0", "java-2.3.1"])
def test_who_is_refused_sees_what_a_broker_shows(guarding: Guarding, client: str, mechanism: str, user: str) -> None:
    said = set()
    for way in WAYS[:3]:
        who = As(guarding.at(way), mechanism, user, "wrong-password")
        outcome = CLIENTS[client](who, f"alice-{client}", VALUES)
        assert isinstance(outcome, str)
        said.add(outcome.partition("SASL authentication error: ")[2].partition(" (after")[0] or outcome)
    assert len(said) == 1, said


class Load(threading.Thread):
    """A client that writes until it is told to stop."""

    def __init__(self, at: str, topic: str, user: str = "alice") -> None:
        super().__init__(daemon=True)
        from confluent_kafka import Producer

        self.failed: list[str] = []
        self.count = 0
        self.topic = topic
        self.ends = threading.Event()
        self.producer = Producer(
            {
                "bootstrap.servers": at,
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "SCRAM-SHA-256",
                "sasl.username": user,
                "sasl.password": PASSWORDS[user],
                "error_cb": lambda error: self.failed.append(error.str()),
                "linger.ms": 1,
                "log_level": 0,
            }
        )

    def run(self) -> None:
        while not self.ends.is_set():
            self.producer.produce(self.topic, b"v", on_delivery=self._delivered)
            self.count += 1
            self.producer.poll(0.005)
        self.producer.flush(30)

    def _delivered(self, error: object, message: object) -> None:
        if error:
            self.failed.append(str(error))

    def finish(self) -> None:
        """Stop, and see that nothing went wrong."""
        self.ends.set()
        self.join()
        assert not self.failed
        assert not len(self.producer)


@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
def test_sessions_are_renewed_on_both_sides_under_load(guarding: Guarding, seconds: int) -> None:
    """Clients' sessions and ours at the broker end after two seconds each."""
    load = Load(guarding.at("terminated"), f"alice-load-{seconds}")
    load.start()
    time.sleep(seconds)
    load.finish()
    assert load.count > 50 * seconds
    guarding.program.expect('"client authenticated"', '"again": true', '"listener": "terminated"', within=START)


def test_passwords_change_under_load(guarding: Guarding) -> None:
    load = Load(guarding.at("terminated"), "bob-changes", "bob")
    load.start()
    known = {name: verifiers(password) for name, password in PASSWORDS.items()}
    for number in range(10):
        before = guarding.program.output().count('"credentials reloaded"')
        save(guarding.users, known | {"alice": verifiers(f"new-{number}")})
        for _ in patiently("the file is read again"):
            if guarding.program.output().count('"credentials reloaded"') > before:
                break
            load.ends.wait(0.05)
        who = As(guarding.at("terminated"), "PLAIN", "alice", f"new-{number}")
        assert CLIENTS["aiokafka"](who, "alice-changes", [b"v"]) == [b"v"]
    save(guarding.users, known)
    load.finish()


def test_nothing_secret_is_in_the_log(guarding: Guarding) -> None:
    """After all of the above."""
    written = guarding.program.output() + (guarding.folder / "doorkeeper.log").read_text()
    for secret in (*PASSWORDS.values(), "wrong-password", "new-1"):
        assert secret not in written
    assert "ERROR" not in written.upper().replace("ERROR_", "")
