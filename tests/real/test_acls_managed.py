"""`kafka-acls` has the same results with a broker that keeps ACLs and with Doorkeeper, which keeps them in a file.

Doorkeeper is in front of that same broker, with two workers, and sends it no requests about ACLs.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proxy.protocol.messages.describe_acls import DescribeAclsResponse
from rules import load
from rules.edit import said
from tests.plugins.acl.asked import describe
from tests.proxy.protocol.oracles.broker import HOST, Client, DenyingBroker
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.records import patiently
from tests.real.tools import Outcome, tool
from tests.real.way import Way

pytestmark = pytest.mark.real
START = 60.0
NODE = 1
RULES = """\
# Kept by kafka-acls; what it does not know is kept by hand.
super_users: [User:ANONYMOUS]
acls:
  # Reports come from inside.
  - {allow: User:reports, to: Read, topics: reports, from: 10.0.0.0/8}
"""
CONFIGURATION = """\
clusters: {{main: {{bootstrap: ["{host}:{broker}"]}}}}
listeners: {{clients: {{cluster: main, bind: "{host}:{port}"}}}}
workers: 2
plugins: [acl: {{rules: acl.yaml, managed: true}}]
"""
# Commands that a person might type, one after the other: each finds the ACLs that the ones before left.
COMMANDS = (
    "--add --allow-principal User:alice --producer --topic orders",
    "--add --allow-principal User:alice --producer --topic orders",
    "--add --allow-principal User:alice --producer --idempotent --transactional-id t-1 --topic orders",
    "--add --allow-principal User:bob --allow-principal User:carol --consumer --topic orders --group readers",
    "--add --allow-principal User:bob --consumer --topic pay- --group bob- --resource-pattern-type prefixed",
    "--add --allow-principal User:* --allow-host 10.1.2.3 --allow-host 10.1.2.4 --operation Read --topic *",
    "--add --deny-principal User:eve --deny-host 10.1.2.3 --operation All --topic secrets",
    "--add --allow-principal User:CN=a,O=b --operation Alter --operation Describe --cluster",
    "--add --allow-principal User:dave --operation CreateTokens --user-principal User:erin",
    "--add --allow-principal User:dave --operation Describe --delegation-token tok",
    "--add --allow-principal User:dave --operation Read --cluster",
    "--add --allow-principal alice --operation Read --topic orders",
    "--list",
    "--list --topic orders",
    "--list --topic pay-1 --resource-pattern-type match",
    "--list --topic pay-1 --resource-pattern-type any",
    "--list --topic pay- --resource-pattern-type prefixed",
    "--list --principal User:bob --principal User:eve",
    "--list --cluster",
    "--list --transactional-id t-1",
    "--list --topic nothing",
    "--remove --force --allow-principal User:carol --consumer --topic orders --group readers",
    "--remove --force --allow-principal User:alice --operation Write --topic orders",
    "--remove --force --deny-principal User:eve --deny-host 10.9.9.9 --operation All --topic secrets",
    "--list",
    "--remove --force --topic pay-1 --resource-pattern-type match",
    "--remove --force --group readers",
    "--remove --force --transactional-id t-1",
    "--remove --force --topic orders",
    "--list",
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doorkeeper")


@pytest.fixture(scope="module")
def managed(broker: DenyingBroker, folder: Path) -> Iterator[Way]:
    """The way through Doorkeeper."""
    port = free_block(2 + NODE, HOST)
    (folder / "acl.yaml").write_text(RULES)
    file = folder / "gateway.yaml"
    file.write_text(CONFIGURATION.format(host=HOST, broker=broker.trusted, port=port))
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
    try:
        program.expect("listening", str(port), within=START)
        yield Way("proxy", f"{HOST}:{port}", {f"{HOST}:{port + 1 + NODE}": NODE})
    finally:
        program.stop()


@pytest.fixture
def direct(broker: DenyingBroker) -> Way:
    address = f"{HOST}:{broker.trusted}"
    return Way("direct", address, {address: NODE})


HEAD = re.compile(r"Current ACLs for resource `.*`:")
A_SET = re.compile(r"\[[A-Z_]+(, [A-Z_]+)*\]")


def acls(text: str) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """The printed lines: every other line, and the current ACLs of each resource. Counted, because Java's sets and maps
    have another order in each process."""
    others: Counter[str] = Counter()
    current: dict[str, Counter[str]] = {}
    of: Counter[str] | None = None
    for line in filter(None, A_SET.sub(lambda found: str(sorted(found[0][1:-1].split(", "))), text).splitlines()):
        if HEAD.match(line):
            of = current.setdefault(line, Counter())
        elif line.startswith("(principal=") and of is not None:
            of[line] = 1  # with several filters an ACL may be listed twice
        else:
            of = None
            others[line] += 1
    return others, current


def ask(way: Way, command: str) -> Outcome:
    return tool(way, "AclCommand", *command.split())


def described(way: Way) -> list[tuple[object, ...]]:
    """All current ACLs, by a request instead of the tool: a JVM takes a second."""
    with Client(int(way.bootstrap.partition(":")[2])) as client:
        answer = client.ask(describe(), 3)
    assert isinstance(answer, DescribeAclsResponse)
    return sorted(
        (each.resource_type, each.resource_name, each.pattern_type, acl.principal, acl.host, acl.operation)
        for each in answer.resources
        for acl in each.acls
    )


def test_every_command_says_and_does_the_same(direct: Way, managed: Way, folder: Path) -> None:
    told = 0
    with ThreadPoolExecutor() as both:
        for command in COMMANDS:
            theirs, ours = both.map(lambda way: ask(way, command), (direct, managed))  # noqa: B023
            assert ours.exit_code == theirs.exit_code, f"{command}\n{theirs.text}\n{ours.text}"
            (their_lines, their_acls), (our_lines, our_acls) = acls(theirs.text), acls(ours.text)
            assert our_lines == their_lines, command
            # After a change the broker may still list the old ACLs.
            assert our_acls == their_acls or not command.startswith("--list"), command
            told += len(our_acls)
            for _ in patiently(f"the broker knows what it was told: {command}"):
                if described(direct) == described(managed):
                    break
    assert told > 20
    rules = folder / "acl.yaml"
    assert rules.read_text().startswith(RULES)
    assert len(said(load(rules).file)) == len(described(direct)) > 5


def test_what_cannot_be_said_in_acls_is_not_removed_in_silence(managed: Way, folder: Path) -> None:
    rules = folder / "acl.yaml"
    outcome = ask(
        managed,
        "--remove --force --allow-principal User:reports --allow-host 10.0.0.0/8 --operation Read --topic reports",
    )
    place = re.escape(f"{rules}:5:5: not deleted: ")
    assert re.search(rf"PolicyViolationException: {place}Kafka's ACLs cannot say \"from\"; edit the file", outcome.text)
    assert rules.read_text().startswith(RULES)
