"""A member's regular expression outlives the proxy through which it came: another one goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.proxy.protocol.oracles.broker import Client, DenyingBroker
from tests.real.guarded import NODE, doorkeeper
from tests.real.records import patiently

pytestmark = pytest.mark.real
RULES = "acls:\n  - {allow: User:*, to: Read, topics: [orders-1, orders-2, payments], groups: '*'}\n"
# Some of them would be another expression, or none, inside of a larger one.
EXPRESSIONS = ("orders-.*", "(?i)ORDERS-.*", r"\Qorders-\E.*|\Qend", "orders-.*|\N{PARTY POPPER}|\\\\E")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        with Client(broker.trusted) as direct:
            for _ in patiently("groups have a coordinator"):
                found: Any = direct.ask(FindCoordinatorRequest(coordinator_keys=["any"]), 4)
                if found.coordinators[0].error_code == 0:
                    break
        yield broker


def create(client: Client, *names: str) -> None:
    topic = CreateTopicsRequest.Topic
    topics = [topic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for name in names]
    answer: Any = client.ask(CreateTopicsRequest(topics=topics), 7)
    assert {each.error_code for each in answer.topics} <= {0, ErrorCode.TOPIC_ALREADY_EXISTS}


class Member:
    """A member of a group of its own, which sends its subscription once."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.epoch = 0
        self.has: list[Any] = []

    def beat(self, client: Client, **more: Any) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id="m", member_epoch=self.epoch, topic_partitions=self.has, **more
        )
        answer: Any = client.ask(request, 1)
        loading = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
        assert answer.error_code in (0, *loading), answer
        if not answer.error_code:
            self.epoch = answer.member_epoch
        if answer.assignment is not None:
            partitions = ConsumerGroupHeartbeatRequest.TopicPartitions
            self.has = [
                partitions(topic_id=each.topic_id, partitions=each.partitions)
                for each in answer.assignment.topic_partitions
            ]

    def beats_until_it_has(self, client: Client, *topics: str) -> None:
        for _ in patiently(f"the member has {topics}"):
            self.beat(client)
            if assigned(self.described(client)) == {*topics}:
                return

    def described(self, client: Client) -> Any:
        request = ConsumerGroupDescribeRequest(group_ids=[self.group], include_authorized_operations=False)
        answer: Any = client.ask(request, 1)
        (group,) = answer.groups
        (member,) = group.members
        return member


def assigned(member: Any) -> set[str]:
    return {each.topic_name for each in member.assignment.topic_partitions}


def test_members_that_go_on_by_another_proxy_get_topics_that_come_later(broker: DenyingBroker, tmp_path: Path) -> None:
    """The first proxy ends between two heartbeats."""
    (tmp_path / "acl.yaml").write_text(RULES)
    members = {expression: Member(f"g-{number}") for number, expression in enumerate(EXPRESSIONS)}
    before, names = ("orders-1", "payments"), ["payments"]
    with Client(broker.trusted) as direct:
        create(direct, *before, "secrets")
        with doorkeeper(tmp_path, broker.trusted) as port, Client(port + 1 + NODE) as client:
            for expression, member in members.items():
                given = {"subscribed_topic_regex": expression, "subscribed_topic_names": names}
                member.beat(client, rebalance_timeout_ms=60_000, **given)
                member.beats_until_it_has(client, *before)
        with doorkeeper(tmp_path, broker.trusted) as port, Client(port + 1 + NODE) as client:
            create(direct, "orders-2")
            for expression, member in members.items():
                member.beats_until_it_has(client, *before, "orders-2")
                shown = member.described(client)
                assert (shown.subscribed_topic_names, shown.subscribed_topic_regex) == (names, expression)


def test_a_member_that_joined_past_the_proxy_loses_topics_that_it_may_not_see(
    broker: DenyingBroker, tmp_path: Path
) -> None:
    (tmp_path / "acl.yaml").write_text(RULES)
    member = Member("joined")
    with Client(broker.trusted) as direct:
        create(direct, "hidden-1", "payments")
        member.beat(direct, subscribed_topic_regex="hidden-.*|payments", rebalance_timeout_ms=60_000)
        member.beats_until_it_has(direct, "hidden-1", "payments")
        with doorkeeper(tmp_path, broker.trusted) as port, Client(port + 1 + NODE) as client:
            for _ in patiently("the member has what it may see"):
                member.beat(client)
                if assigned(member.described(direct)) == {"payments"}:
                    break
