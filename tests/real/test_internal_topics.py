"""A coordinator creates the internal topics that a streams group lacks, at any heartbeat; for whom may create them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, TopicInfo
from tests.proxy.protocol.oracles.broker import Client, DenyingBroker
from tests.real.guarded import NODE, doorkeeper
from tests.real.records import patiently

pytestmark = pytest.mark.real
SOURCE, CHANGELOG = "orders", "counting-store-changelog"
SEEN = "acls:\n  - {allow: User:*, to: Read, topics: '*', groups: '*'}\n"
CREATED = SEEN + "  - {allow: User:*, to: Create, topics: counting-*}\n"
NEW = 0  # the epoch of a member that joins
BEATS = 5
BEAT = 1.0  # seconds between two heartbeats
LOADING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)  # while the group's partition is loaded


def created(topic: str) -> CreateTopicsRequest.Topic:
    return CreateTopicsRequest.Topic(name=topic, num_partitions=1, replication_factor=1, assignments=[], configs=[])


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        with Client(broker.trusted) as direct:
            topic = created(SOURCE)
            direct.ask(CreateTopicsRequest(topics=[topic]), 7)
            for _ in patiently("the group has a coordinator"):
                found: Any = direct.ask(FindCoordinatorRequest(coordinator_keys=["counting"]), 4)
                if found.coordinators[0].error_code == 0:
                    break
        yield broker


def heartbeat(epoch: int) -> StreamsGroupHeartbeatRequest:
    beat = StreamsGroupHeartbeatRequest(
        group_id="counting",
        member_id="member",
        member_epoch=epoch,
        endpoint_information_epoch=0,
        shutdown_application=False,
    )
    if epoch == NEW:
        part = StreamsGroupHeartbeatRequest.Topology.Subtopology(
            subtopology_id="0",
            source_topics=[SOURCE],
            source_topic_regex=[],
            state_changelog_topics=[TopicInfo(name=CHANGELOG, partitions=0, replication_factor=1, topic_configs=[])],
            repartition_sink_topics=[],
            repartition_source_topics=[],
            copartition_groups=[],
        )
        beat.topology = StreamsGroupHeartbeatRequest.Topology(epoch=0, subtopologies=[part])
        beat.process_id, beat.rebalance_timeout_ms = "process", 30_000
        beat.active_tasks, beat.standby_tasks, beat.warmup_tasks, beat.client_tags = [], [], [], []
    return beat


def exists(direct: Client) -> bool:
    """Does the internal topic exist?"""
    wanted = MetadataRequest.Topic(name=CHANGELOG)
    answer: Any = direct.ask(MetadataRequest(topics=[wanted], allow_auto_topic_creation=False), 9)
    return bool(answer.topics[0].error_code == 0)


def beaten(client: Client, epoch: int, direct: Client, wanted: bool) -> int:
    """Beat until the internal topic exists, or does not; the epoch of the member then."""
    for _ in patiently(f"the internal topic {'is there' if wanted else 'is gone'}"):
        answer: Any = client.ask(heartbeat(epoch), 0)
        assert answer.error_code in (0, *LOADING), answer
        epoch = max(epoch, answer.member_epoch)
        if exists(direct) is wanted:
            break
        threading.Event().wait(BEAT)  # a coordinator that failed to create a topic waits before it tries again
    return epoch


def test_an_internal_topic_is_created_again_only_for_whom_may_create_it(broker: DenyingBroker, tmp_path: Path) -> None:
    rules = tmp_path / "acl.yaml"
    rules.write_text(CREATED)
    with doorkeeper(tmp_path, broker.trusted) as port, Client(broker.trusted) as direct:
        with Client(port + 1 + NODE) as client:
            epoch = beaten(client, NEW, direct, True)
            (tmp_path / "acl.new").write_text(SEEN)
            (tmp_path / "acl.new").rename(rules)
            for _ in patiently("the right to create it is gone"):
                topic = created("counting-other")
                made: Any = client.ask(CreateTopicsRequest(topics=[topic], validate_only=True), 7)
                if made.topics[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                    break
            direct.ask(DeleteTopicsRequest(topic_names=[CHANGELOG], timeout_ms=30_000), 5)
            for _ in patiently("the internal topic is gone"):
                if not exists(direct):
                    break
            for _ in range(BEATS):
                refused: Any = client.ask(heartbeat(epoch), 0)
                assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
                assert not exists(direct)
        # The broker alone creates it for the same heartbeat.
        beaten(direct, epoch, direct, True)
