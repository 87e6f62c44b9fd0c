"""Streams groups: what a topology may name, and which internal topics coordinators may create for a member."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.streams import LOOK
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages import streams_group_describe as description
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, StreamsGroupDescribeResponse
from proxy.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TopicInfo,
)
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

Making = Callable[..., Rules]
SEES = "acls: [{allow: User:alice, to: Read, groups: g}, {allow: User:alice, to: Describe, topics: [a-1, a-2, b-1]}]"
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
DESCRIBED = StreamsGroupDescribeResponse.Group


class Coordinator(Talk):
    """A member whose group's coordinator tells the group's topology, and whose cluster has some topics."""

    def __init__(self, rules: Rules, *topics: str) -> None:
        self.topics = {name: topic_id(name) for name in topics or ("a-1", "b-1", "a-secret")}
        self.internal: list[str] | None = None  # None: the group has no topology
        self.error = 0
        super().__init__(rules.acl, "User:alice", self.serves)

    def serves(self, request: Request, version: int) -> Response:
        if isinstance(request, MetadataRequest):
            return metadata_of(self.topics, request)
        if isinstance(request, StreamsGroupDescribeRequest):
            return StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[self.described(*request.group_ids)])
        return StreamsGroupHeartbeatResponse(
            throttle_time_ms=0,
            error_code=0,
            member_id="m",
            member_epoch=1,
            heartbeat_interval_ms=1,
            task_offset_interval_ms=1,
            status=None,
            topology_description_required=False,
            endpoint_information_epoch=0,
        )

    def described(self, group: str) -> DESCRIBED:
        part = DESCRIBED.Topology.Subtopology(
            subtopology_id="0",
            source_topics=[],
            repartition_sink_topics=[],
            state_changelog_topics=[],
            repartition_source_topics=[
                description.TopicInfo(name=name, partitions=1, replication_factor=1, topic_configs=[])
                for name in self.internal or ()
            ],
        )
        topology = DESCRIBED.Topology(epoch=1, subtopologies=[part]) if self.internal is not None else None
        return DESCRIBED(
            error_code=self.error,
            group_id=group,
            group_state="Stable",
            group_epoch=1,
            assignment_epoch=1,
            topology=topology,
            members=[],
        )

    @property
    def asked_for_topologies(self) -> int:
        """How often the coordinator was asked to describe the group."""
        return sum(isinstance(request, StreamsGroupDescribeRequest) for request in self.to_broker)


def heartbeat(epoch: int = 1) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=epoch, endpoint_information_epoch=0, shutdown_application=False
    )


def streams(source: str = "a-1", changelog: str = "b-1", regex: tuple[str, ...] = ()) -> StreamsGroupHeartbeatRequest:
    topology = StreamsGroupHeartbeatRequest.Topology
    info = TopicInfo(name=changelog, partitions=0, replication_factor=0, topic_configs=[])
    part = topology.Subtopology(
        subtopology_id="0",
        source_topics=[source],
        source_topic_regex=[*regex],
        state_changelog_topics=[info],
        repartition_sink_topics=[],
        repartition_source_topics=[],
        copartition_groups=[],
    )
    joining = heartbeat(0)
    joining.topology = topology(epoch=0, subtopologies=[part])
    return joining


@pytest.mark.parametrize(
    ("request_", "fine"),
    [
        (streams(), True),
        (streams(source="a-secret"), False),
        (streams(changelog="a-secret"), False),
        (streams(changelog="a-2"), False),  # is missing, and may not be made
    ],
)
def test_a_topology_names_what_may_be_seen_and_what_is_missing_may_be_made(
    rules: Making, request_: StreamsGroupHeartbeatRequest, fine: bool
) -> None:
    talk = Coordinator(rules(SEES))
    assert talk.ask(request_, 1).error_code == (0 if fine else REFUSED)


def test_a_source_by_regular_expression_is_an_invalid_request_as_at_a_broker(rules: Making) -> None:
    answer = Coordinator(rules(SEES)).ask(streams(regex=("a-.*",)), 1)
    said = "Regular expressions for source topics are not supported yet."
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, said)


def test_a_source_that_may_not_be_seen_is_refused_before_one_by_regular_expression_as_at_a_broker(
    rules: Making,
) -> None:
    answer = Coordinator(rules(SEES)).ask(streams(source="a-secret", regex=("a-.*",)), 1)
    assert answer.error_code == REFUSED


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (streams(source="a secret"), "Topic names a secret are not valid topic names."),
        (streams(source="", changelog="b/1"), "Topic names ,b/1 are not valid topic names."),
        (
            streams(source="__consumer_offsets", changelog="b/1"),
            "Use of Kafka internal topics __consumer_offsets in a Kafka Streams topology is prohibited.",
        ),
    ],
)
def test_names_that_no_topic_of_a_topology_can_have_are_told_to_everybody(
    rules: Making, request_: StreamsGroupHeartbeatRequest, said: str
) -> None:
    answer = Coordinator(rules("acls: [{allow: User:alice, to: Read, groups: g}]")).ask(request_, 1)
    assert (answer.error_code, answer.error_message) == (ErrorCode.STREAMS_INVALID_TOPOLOGY, said)


def test_a_member_that_joins_may_not_have_missing_topics_of_another_topology_created(rules: Making) -> None:
    talk = Coordinator(rules(SEES))
    talk.internal = ["a-2"]
    answer = talk.ask(streams(), 1)
    assert (answer.error_code, answer.error_message) == (REFUSED, "Unauthorized to CREATE on topics a-2.")


def test_an_internal_topic_that_is_deleted_later_is_not_created_again_for_whom_may_not_create_it(
    rules: Making,
) -> None:
    own = rules(SEES)
    talk = Coordinator(own)
    talk.internal = ["b-1"]
    assert talk.ask(heartbeat(), 1).error_code == 0
    del talk.topics["b-1"]
    assert talk.ask(heartbeat(), 1).error_code == REFUSED
    assert ("Create", "Topic", "b-1") in talk.denied
    own.become(SEES.replace("acls: [", "acls: [{allow: User:alice, to: Create, topics: b-*}, "))
    assert talk.ask(heartbeat(), 1).error_code == 0


def test_a_member_that_leaves_or_may_create_every_topic_is_not_asked_about(rules: Making) -> None:
    talk = Coordinator(rules(SEES.replace("acls: [", "acls: [{allow: User:alice, to: Create, cluster: true}, ")))
    leaving = Coordinator(rules(SEES))
    talk.internal = leaving.internal = ["a-2"]
    assert talk.ask(heartbeat(), 1).error_code == 0
    assert leaving.ask(heartbeat(-1), 1).error_code == 0
    assert talk.asked_for_topologies == leaving.asked_for_topologies == 0


def test_a_group_that_had_no_topology_yet_is_asked_for_again(rules: Making) -> None:
    talk = Coordinator(rules(SEES))
    assert talk.ask(streams(), 1).error_code == 0
    talk.internal = ["b-1"]
    del talk.topics["b-1"]
    assert talk.ask(heartbeat(), 1).error_code == REFUSED


def test_members_that_come_with_the_same_topology_have_the_coordinator_asked_once(rules: Making) -> None:
    talk = Coordinator(rules(SEES))
    talk.internal = ["b-1"]
    for _ in range(3):
        assert talk.ask(streams(changelog="b-1"), 1).error_code == 0
    assert talk.asked_for_topologies == 1


def test_the_coordinator_is_asked_again_after_a_member_came_with_another_topology(rules: Making) -> None:
    talk = Coordinator(rules(SEES), "a-1", "a-2", "b-1")
    talk.internal = ["b-1"]
    assert talk.ask(heartbeat(), 1).error_code == 0
    assert talk.ask(streams(changelog="a-2"), 1).error_code == 0
    talk.internal = ["a-2"]
    del talk.topics["a-2"]
    assert talk.ask(heartbeat(), 1).error_code == REFUSED
    assert talk.denied == [("Create", "Topic", "a-2")]


def test_the_coordinator_is_asked_once_in_a_while(rules: Making) -> None:
    own = rules(SEES)
    talk = Coordinator(own)
    talk.internal = ["b-1"]
    for _ in range(3):
        assert talk.ask(heartbeat(), 1).error_code == 0
    assert talk.asked_for_topologies == 1
    own.clock.time += LOOK
    talk.internal = ["a-2"]
    assert talk.ask(heartbeat(), 1).error_code == REFUSED
    assert talk.asked_for_topologies == 2


@pytest.mark.parametrize(
    ("error", "comes"),
    [
        (ErrorCode.GROUP_ID_NOT_FOUND, 0),
        (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ],
)
def test_where_the_coordinator_does_not_tell_the_member_gets_its_error(rules: Making, error: int, comes: int) -> None:
    talk = Coordinator(rules(SEES))
    talk.error = error
    assert talk.ask(heartbeat(), 1).error_code == comes


def test_in_shadow_nothing_is_refused(rules: Making) -> None:
    talk = Coordinator(rules(SEES, shadow=True))
    talk.internal, talk.error = ["a-2"], ErrorCode.NOT_COORDINATOR
    assert talk.ask(heartbeat(), 1).error_code == 0
    talk.error = 0
    assert talk.ask(heartbeat(), 1).error_code == 0
    assert ("Create", "Topic", "a-2") in talk.denied
