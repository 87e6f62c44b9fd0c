"""ACLs go from a rules file into a real broker by Kafka's own tool, and come back unchanged."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proxy.cli import main
from rules import load
from rules.bindings import Binding, bindings
from tests.proxy.protocol.oracles.broker import HOST, DenyingBroker
from tests.real.archive import loaded
from tests.real.cluster import JARS
from tests.real.jars import classpath
from tests.real.java import java
from tests.real.tools import JVM, QUIET

pytestmark = pytest.mark.real
RULES = """\
acls:
  - allow: [User:alice, "User:CN=a, O=\\"b\\", host=x"]
    to: [Read, DescribeConfigs]
    topics: [orders, payments-*, "*"]
    groups: ["my group's `name`, patternType=LITERAL)", {prefixed: "*"}]
    from: [10.1.2.3, {literal: 10.0.0.0/8}, "::1"]
  - {deny: User:*, to: All, topics: secrets, transactional_ids: t-*}
  - {allow: User:alice, to: [IdempotentWrite, Alter], cluster: true}
  - {allow: User:alice, to: TwoPhaseCommit, transactional_ids: t}
  - {allow: User:alice, to: Describe, delegation_tokens: "*"}
  - {allow: User:alice, to: [CreateTokens, DescribeTokens], users: User:bob}
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


def acls(*arguments: object, given: str | None = None) -> Result:
    result = CliRunner().invoke(main, ["acls", *map(str, arguments)], input=given)
    assert result.exit_code == 0, result.output
    return result


def kafka_acls(*arguments: str) -> str:
    flags = [*JVM, *loaded(JARS), QUIET]
    command = [java(), *flags, "-cp", classpath(JARS), "org.apache.kafka.tools.AclCommand", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def said(file: Path) -> set[Binding]:
    return {binding for acl in load(file).file.acls for binding in bindings(acl)}


def test_acls_go_into_a_broker_and_come_back_the_same(broker: DenyingBroker, tmp_path: Path) -> None:
    address = f"{HOST}:{broker.trusted}"
    written, listed, asked = (tmp_path / name for name in ("written.yaml", "listed.yaml", "asked.yaml"))
    written.write_text(RULES)
    for line in acls("export", written, "--bootstrap", address).stdout.splitlines():
        tool, *arguments = shlex.split(line)
        assert tool == "kafka-acls"
        kafka_acls(*arguments)
    listing = kafka_acls("--bootstrap-server", address, "--list")
    listed.write_text(acls("import", given=listing).stdout)
    asked.write_text(acls("import", "--bootstrap", address).stdout)
    assert said(listed) == said(asked) == said(written)
    assert listed.read_text() == asked.read_text()


def test_a_broker_that_wants_its_clients_to_say_who_they_are_is_told_from_a_dead_one(broker: DenyingBroker) -> None:
    result = CliRunner().invoke(main, ["acls", "import", "--bootstrap", f"{HOST}:{broker.denied}"])
    way_out = "where brokers want TLS or SASL, a configuration says how: --config"
    assert result.output == f"--bootstrap: {HOST}:{broker.denied}: closed the connection; {way_out}\n"
    assert result.exit_code == 1
