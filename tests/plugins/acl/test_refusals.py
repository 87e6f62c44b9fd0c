"""The places of refusals in a response, and refusals of repeated elements."""

from __future__ import annotations

from collections.abc import Callable

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.offset_commit import OffsetCommitRequest
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from proxy.protocol.messages.produce import ProduceRequest
from tests.plugins.acl.talk import Rules, Talk

Making = Callable[..., Rules]
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
OWN = "acls: [{allow: User:alice, to: [Read, Describe], topics: mine, groups: ours}]"


def test_what_brokers_hold_once_is_said_once(rules: Making) -> None:
    def topic(name: str, *partitions: int) -> ProduceRequest.Topic:
        wanted = [ProduceRequest.Topic.Partition(index=index, records=None) for index in partitions]
        return ProduceRequest.Topic(name=name, partition_data=wanted)

    topics = [topic("theirs", 0, 0, 1), topic("others", 0), topic("theirs", 1, 2)]
    answer = Talk(rules(OWN).acl).ask(ProduceRequest(acks=1, timeout_ms=1, topic_data=topics), 9)
    told = [(each.name, [part.index for part in each.partition_responses]) for each in answer.responses]
    assert told == [("theirs", [0, 1, 2]), ("others", [0])]


def test_what_brokers_join_is_said_as_often_as_it_was_asked_but_in_one_place(rules: Making) -> None:
    def topic(name: str, *partitions: int) -> OffsetCommitRequest.Topic:
        cls = OffsetCommitRequest.Topic
        return cls(
            name=name,
            partitions=[
                cls.Partition(partition_index=p, committed_offset=0, committed_metadata="") for p in partitions
            ],
        )

    topics = [topic("theirs", 0, 0), topic("others", 0), topic("theirs", 0)]
    answer = Talk(rules(OWN).acl).ask(OffsetCommitRequest(group_id="ours", topics=topics), 8)
    told = [(each.name, [part.partition_index for part in each.partitions]) for each in answer.topics]
    assert told == [("theirs", [0, 0, 0]), ("others", [0])]


def test_of_a_group_that_is_asked_about_twice_each_answer_has_its_own_refusals(rules: Making) -> None:
    asked = OffsetFetchRequest.Group

    def group(*topics: str) -> OffsetFetchRequest.Group:
        return asked(group_id="ours", topics=[asked.Topic(name=name, partition_indexes=[0]) for name in topics])

    talk = Talk(rules(OWN).acl)
    assert talk.ask(OffsetFetchRequest(groups=[group("mine"), group("theirs"), group("others", "mine")]), 8) is None
    empty = [OffsetFetchResponse.Group(group_id="ours", topics=[], error_code=0) for _ in range(3)]
    answer = talk.answer(OffsetFetchResponse(groups=empty))
    told = [[(topic.name, topic.partitions[0].error_code) for topic in group.topics] for group in answer.groups]
    assert told == [[], [("theirs", REFUSED)], [("others", REFUSED)]]
