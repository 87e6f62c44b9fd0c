"""Kafka's own tools print the same, direct and through Doorkeeper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real.records import patiently
from tests.real.tools import Outcome, tool, works
from tests.real.way import Way

pytestmark = pytest.mark.real

# APIs between brokers and controllers only: Doorkeeper neither advertises them nor lets them pass.
BETWEEN_BROKERS = {
    "AllocateProducerIds",
    "AlterPartition",
    "AssignReplicasToDirs",
    "BeginQuorumEpoch",
    "BrokerHeartbeat",
    "BrokerRegistration",
    "ControlledShutdown",
    "ControllerRegistration",
    "DeleteShareGroupState",
    "EndQuorumEpoch",
    "Envelope",
    "FetchSnapshot",
    "InitializeShareGroupState",
    "LeaderAndIsr",
    "ReadShareGroupState",
    "ReadShareGroupStateSummary",
    "StopReplica",
    "UpdateMetadata",
    "UpdateRaftVoter",
    "Vote",
    "WriteShareGroupState",
    "WriteTxnMarkers",
}


def words(outcome: Outcome) -> list[str]:
    """The sorted lines: tools print from hash maps."""
    return sorted(outcome.lines)


def without_chance(text: str) -> str:
    """The text without topic ids, which are random, and without the metadata epoch, which grows."""
    return re.sub(r"(TopicId|Epoch): \S+", r"\1: <any>", text)


def test_topics_are_made_grown_described_and_deleted(way: Way, same: Callable[[object], None]) -> None:
    topic = way.unique("tool-topics")
    works(way, "TopicCommand", "--create", "--topic", topic, "--replica-assignment", "1:2:3,2:3:1")
    described = works(way, "TopicCommand", "--describe", "--topic", topic)
    assert "ReplicationFactor: 3" in described.text
    more = ("--partitions", 4, "--replica-assignment", "1:2:3,2:3:1,3:1:2,1:3:2")
    works(way, "TopicCommand", "--alter", "--topic", topic, *more)
    assert topic in listed(way)
    twice = tool(way, "TopicCommand", "--create", "--topic", topic)
    works(way, "TopicCommand", "--delete", "--topic", topic)
    for _ in patiently("the topic is gone"):
        if topic not in listed(way):
            break
    same((without_chance(described.text), twice.exit_code, re.sub(r"\[.*?\]", "", twice.lines[0])))


def listed(way: Way) -> list[str]:
    return [f"{line}-{way.name}" for line in works(way, "TopicCommand", "--list").lines]


def test_configurations_are_changed_and_described(way: Way, same: Callable[[object], None]) -> None:
    topic = way.unique("tool-configs")
    works(way, "TopicCommand", "--create", "--topic", topic)
    entity = ("--entity-type", "topics", "--entity-name", topic)
    works(way, "ConfigCommand", "--alter", *entity, "--add-config", "retention.ms=12345,cleanup.policy=compact")
    for _ in patiently("the change is seen by every broker"):
        topics = works(way, "ConfigCommand", "--describe", *entity)
        if "retention.ms=12345" in topics.text:
            break
    broker = works(way, "ConfigCommand", "--describe", "--all", "--entity-type", "brokers", "--entity-name", 2)
    wrong = tool(way, "ConfigCommand", "--alter", *entity, "--add-config", "retention.ms=soon")
    # Doorkeeper also maps the default value, which has no host, as an address.
    settings = [re.sub(r"DEFAULT_CONFIG:listeners=[^,}]+", "", line) for line in words(broker)]
    same((topics, settings, wrong.exit_code))


def test_a_console_producer_and_consumer_understand_each_other(way: Way, same: Callable[[object], None]) -> None:
    topic, group = way.unique("tool-console"), way.unique("tool-console")
    works(way, "TopicCommand", "--create", "--topic", topic, "--partitions", 2)
    keyed = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
    given = "".join(f"key-{n % 5}:value {n}\n" for n in range(200))
    works(way, "ConsoleProducer", "--topic", topic, "--compression-codec", "zstd", *keyed, given=given)
    shown = ("--formatter-property", "print.key=true", "--formatter-property", "print.partition=true")
    reading = ("--topic", topic, "--from-beginning", "--max-messages", 200, "--group", group, *shown)
    consumed = works(way, "ConsoleConsumer", *reading)
    groups = works(way, "ConsumerGroupCommand", "--describe", "--group", group)
    states = works(way, "ConsumerGroupCommand", "--describe", "--state", "--group", group)
    reset = works(
        way, "ConsumerGroupCommand", "--reset-offsets", "--to-earliest", "--execute", "--group", group, "--topic", topic
    )
    ends = works(way, "GetOffsetShell", "--topic", topic)
    deleted = works(way, "ConsumerGroupCommand", "--delete", "--group", group)
    assert len([line for line in consumed.lines if "value" in line]) == 200
    state = re.sub(r"<broker \d> \(\d\)", "<coordinator>", states.text)
    same((words(consumed), words(groups), state, words(reset), ends, deleted))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_the_performance_tools_move_what_they_are_asked_to(way: Way, codec: str) -> None:
    topic = way.unique(f"tool-perf-{codec}")
    works(way, "TopicCommand", "--create", "--topic", topic, "--partitions", 6)
    load = ("--num-records", 50_000, "--record-size", 1000, "--throughput", -1)
    tuned = ("--command-property", f"compression.type={codec}", "batch.size=65536")
    produced = works(way, "ProducerPerformance", "--topic", topic, *load, *tuned)
    consumed = works(way, "ConsumerPerformance", "--topic", topic, "--num-records", 50_000, "--timeout", 60_000)
    assert "50000 records sent" in produced.text
    figures = consumed.lines[-1].split(", ")
    assert int(figures[4]) >= 50_000


def test_the_verifiable_clients_agree_on_every_record(way: Way, same: Callable[[object], None]) -> None:
    topic, group = way.unique("tool-verifiable"), way.unique("tool-verifiable")
    works(way, "TopicCommand", "--create", "--topic", topic, "--partitions", 3)
    sent = works(way, "VerifiableProducer", "--topic", topic, "--max-messages", 5000, "--acks", -1)
    reading = ("--topic", topic, "--group-id", group, "--max-messages", 5000, "--reset-policy", "earliest", "--verbose")
    read = works(way, "VerifiableConsumer", *reading, "--group-protocol", "consumer")
    acknowledged = [event for event in map(json.loads, sent.lines) if event["name"] == "producer_send_success"]
    seen = [event for event in map(json.loads, read.lines) if event["name"] == "record_data"]
    places = sorted((event["partition"], event["offset"]) for event in seen)
    assert sorted((event["partition"], event["offset"]) for event in acknowledged) == places
    same(sorted(event["value"] for event in seen))


def test_versions_features_and_the_quorum_are_told(way: Way, same: Callable[[object], None]) -> None:
    versions = works(way, "BrokerApiVersionsCommand")
    apis = [line for line in versions.lines if not BETWEEN_BROKERS & set(re.findall(r"^(\w+)\(", line))]
    features = works(way, "FeatureCommand", "describe")
    cluster = works(way, "ClusterTool", "cluster-id")
    nodes = works(way, "ClusterTool", "list-endpoints")
    quorum = works(way, "MetadataQuorumCommand", "describe", "--status")
    replicas = works(way, "MetadataQuorumCommand", "describe", "--replication")
    told = [line.partition(":")[0] for line in quorum.lines]
    same(
        (
            sorted(apis),
            without_chance(features.text),
            cluster,
            words(nodes),
            told,
            len(replicas.lines),
        )
    )


def test_leaders_and_replicas_are_moved(way: Way, same: Callable[[object], None], tmp_path: Path) -> None:
    topic = way.unique("tool-leaders")
    works(way, "TopicCommand", "--create", "--topic", topic, "--replica-assignment", "1:2:3,2:3:1")
    plan = tmp_path / "plan.json"
    moves = [{"topic": topic, "partition": 0, "replicas": [3, 1]}, {"topic": topic, "partition": 1, "replicas": [1, 2]}]
    plan.write_text(json.dumps({"version": 1, "partitions": moves}))
    started = works(way, "ReassignPartitionsCommand", "--reassignment-json-file", plan, "--execute")
    for _ in patiently("the replicas have moved"):
        verified = works(way, "ReassignPartitionsCommand", "--reassignment-json-file", plan, "--verify")
        if "still in progress" not in verified.text:
            break
    both = tmp_path / "both.json"
    both.write_text(json.dumps({"partitions": [{"topic": topic, "partition": number} for number in (0, 1)]}))
    elected = works(way, "LeaderElectionCommand", "--election-type", "preferred", "--path-to-json-file", both)
    described = works(way, "TopicCommand", "--describe", "--topic", topic)
    assert "Leader: 3" in described.text
    assert "Leader: 1" in described.text
    same((words(started), words(verified), elected.exit_code, re.sub(r"Isr: \S+", "", without_chance(described.text))))


def test_records_disks_and_transactions_are_looked_after(
    way: Way, same: Callable[[object], None], tmp_path: Path
) -> None:
    topic, transaction = way.unique("tool-records"), way.unique("tool-tx")
    works(way, "TopicCommand", "--create", "--topic", topic, "--replica-assignment", "1:2:3")
    load = ("--num-records", 1000, "--record-size", 10, "--throughput", -1)
    works(way, "ProducerPerformance", "--topic", topic, *load, "--transactional-id", transaction)
    listing = works(way, "TransactionsCommand", "list")
    described = works(way, "TransactionsCommand", "describe", "--transactional-id", transaction)
    producers = works(way, "TransactionsCommand", "describe-producers", "--topic", topic, "--partition", 0)
    offsets = tmp_path / "offsets.json"
    offsets.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "offset": 400}], "version": 1}))
    deleted = works(way, "DeleteRecordsCommand", "--offset-json-file", offsets)
    first = works(way, "GetOffsetShell", "--topic", topic, "--time", "earliest")
    disks = works(way, "LogDirsCommand", "--describe", "--topic-list", topic)
    sizes = json.loads(disks.lines[-1])
    held = {b["broker"]: len(d["partitions"]) for b in sizes["brokers"] for d in b["logDirs"]}
    assert transaction in f"{listing.text}".replace("tool-tx", transaction)
    same((described.lines[0], len(described.lines), len(producers.lines), words(deleted), first, held))


def test_what_is_switched_off_is_refused_the_same_way(way: Way, same: Callable[[object], None]) -> None:
    acls = tool(way, "AclCommand", "--list")
    tokens = tool(way, "DelegationTokenCommand", "--describe")
    groups = tool(way, "ConsumerGroupCommand", "--describe", "--group", way.unique("nobody"))
    same([(outcome.exit_code, re.findall(r"\w+Exception", outcome.text)) for outcome in (acls, tokens, groups)])
