"""Share groups: records that members lock and acknowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from plugins.acl.fetched import REFUSAL
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from proxy.protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from proxy.protocol.slices import ELEMENTS
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

Making = Callable[..., Rules]
READS = "acls: [{{allow: User:alice, to: Read, groups: g, topics: [{}]}}]"
REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
KNOWN = {name: topic_id(name) for name in ("mine", "ours", "theirs")}
Partition = ShareFetchRequest.Topic.Partition
VERSIONS = range(3)


def fetch(
    epoch: int,
    *topics: str,
    acknowledging: bool = False,
    forget: Iterable[str] = (),
    partitions: Iterable[int] = (0,),
    member: str = "m",
) -> ShareFetchRequest:
    batch = Partition.AcknowledgementBatch(first_offset=1, last_offset=2, acknowledge_types=[1])
    return ShareFetchRequest(
        group_id="g",
        member_id=member,
        share_session_epoch=epoch,
        max_wait_ms=1,
        min_bytes=1,
        topics=[
            ShareFetchRequest.Topic(
                topic_id=topic_id(name),
                partitions=[
                    Partition(partition_index=index, acknowledgement_batches=[batch] if acknowledging else [])
                    for index in partitions
                ],
            )
            for name in topics
        ],
        forgotten_topics_data=[
            ShareFetchRequest.ForgottenTopic(topic_id=topic_id(name), partitions=[0]) for name in forget
        ],
    )


def records(*topics: str) -> ShareFetchResponse:
    answer = ShareFetchResponse.Topic.Partition
    leader = answer.Leader(leader_id=1, leader_epoch=1)
    return ShareFetchResponse(
        throttle_time_ms=0,
        error_code=0,
        node_endpoints=[],
        responses=[
            ShareFetchResponse.Topic(
                topic_id=topic_id(name),
                partitions=[
                    answer(
                        partition_index=0,
                        error_code=0,
                        acknowledge_error_code=0,
                        current_leader=leader,
                        records=b"r",
                        acquired_records=[],
                    )
                ],
            )
            for name in topics
        ],
    )


def told(answer: ShareFetchResponse) -> list[tuple[str, int, int, bool]]:
    """Topic, error, error of acknowledging, and whether there are records."""
    return [
        (topic.topic_id.rstrip(b"\0").decode(), it.error_code, it.acknowledge_error_code, bool(it.records))
        for topic in answer.responses
        for it in topic.partitions
    ]


class Member(Talk):
    def __init__(self, rules: Rules) -> None:
        super().__init__(
            rules.acl,
            "User:alice",
            lambda it, v: metadata_of(KNOWN, it) if isinstance(it, MetadataRequest) else None,
        )

    @property
    def fetched(self) -> list[list[str]]:
        """The topics of each request that reached the broker."""
        return [
            [topic.topic_id.rstrip(b"\0").decode() for topic in request.topics]
            for request in self.to_broker
            if isinstance(request, ShareFetchRequest)
        ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_refused_topic_stays_out_of_the_session_and_its_error_is_repeated(rules: Making, version: int) -> None:
    talk = Member(rules(READS.format("mine")))
    talk.ask(fetch(0, "mine", "theirs"), version)
    assert told(talk.answer(records("mine"))) == [("mine", 0, 0, True), ("theirs", REFUSED, 0, False)]
    talk.ask(fetch(1), version)
    assert told(talk.answer(records())) == [("theirs", REFUSED, 0, False)]
    assert talk.fetched == [["mine"], []]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_taken_of_a_refused_topic_is_not_acknowledged(rules: Making, version: int) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours"), version)
    talk.answer(records("mine", "ours"))
    own.become(READS.format("mine"))
    talk.ask(fetch(1, "mine", "ours", acknowledging=True), version)
    request = talk.to_broker[-1]
    assert [topic.topic_id for topic in request.topics] == [topic_id("mine")]
    assert [topic.topic_id for topic in request.forgotten_topics_data] == [topic_id("ours")]
    assert told(talk.answer(records("mine"))) == [("mine", 0, 0, True), ("ours", REFUSED, REFUSED, False)]
    talk.ask(fetch(2), version)
    assert told(talk.answer(records())) == [("ours", REFUSED, 0, False)]


def test_a_topic_that_is_allowed_again_is_put_back_without_old_acknowledgements(rules: Making) -> None:
    own = rules(READS.format("mine"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours"), 2)
    talk.answer(records("mine"))
    talk.ask(fetch(1, "ours", acknowledging=True), 2)
    assert told(talk.answer(records())) == [("ours", REFUSED, REFUSED, False)]
    own.become(READS.format("mine, ours"))
    talk.ask(fetch(2), 2)
    assert talk.to_broker[-1] == fetch(2, "ours")


def test_records_that_came_while_the_rules_changed_are_withheld(rules: Making) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours"), 2)
    own.become(READS.format("mine"))
    assert told(talk.answer(records("mine", "ours"))) == [("mine", 0, 0, True), ("ours", REFUSED, 0, False)]


def test_a_group_that_was_taken_away_while_records_were_waited_for_gets_none(rules: Making) -> None:
    own = rules(READS.format("mine"))
    talk = Member(own)
    talk.ask(fetch(0, "mine"), 2)
    own.become("acls: [{allow: User:alice, to: Read, topics: mine}]")
    answer = talk.answer(records("mine"))
    assert (answer.error_code, told(answer)) == (ErrorCode.GROUP_AUTHORIZATION_FAILED, [])
    assert talk.denied == [("Read", "Group", "g")]


def test_what_is_acknowledged_and_forgotten_at_once_reaches_the_broker(rules: Making) -> None:
    talk = Member(rules(READS.format("mine, ours")))
    talk.ask(fetch(0, "mine", "ours"), 2)
    talk.answer(records("mine", "ours"))
    request = fetch(1, "ours", acknowledging=True, forget=["ours"])
    talk.ask(request, 2)
    assert talk.to_broker[-1] == request
    talk.answer(records("mine"))
    talk.ask(fetch(2), 2)
    assert told(talk.answer(records("mine"))) == [("mine", 0, 0, True)]


def test_what_is_refused_and_acknowledged_and_forgotten_at_once_is_not_acknowledged(rules: Making) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours"), 2)
    talk.answer(records("mine", "ours"))
    own.become(READS.format("mine"))
    talk.ask(fetch(1, "ours", acknowledging=True, forget=["ours"]), 2)
    assert talk.fetched[-1] == []
    assert told(talk.answer(records("mine"))) == [("mine", 0, 0, True), ("ours", 0, REFUSED, False)]
    talk.ask(fetch(2), 2)
    assert told(talk.answer(records("mine"))) == [("mine", 0, 0, True)]


def test_partitions_that_are_forgotten_at_once_do_not_come_back(rules: Making) -> None:
    own = rules(READS.format("mine"))
    talk = Member(own)
    talk.ask(fetch(0, "theirs", partitions=(0, 1)), 2)
    talk.answer(records())
    talk.ask(fetch(1, "theirs", forget=["theirs"], partitions=(0, 1)), 2)
    (refused,) = talk.answer(records()).responses
    assert [it.partition_index for it in refused.partitions] == [1]
    own.become(READS.format("theirs"))
    talk.ask(fetch(2), 2)
    assert [it.partition_index for it in talk.to_broker[-1].topics[0].partitions] == [1]


def test_the_last_request_fetches_nothing(rules: Making) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours", "theirs"), 2)
    talk.answer(records("mine", "ours"))
    own.become(READS.format("mine"))
    talk.ask(fetch(-1, "mine", "ours", acknowledging=True), 2)
    assert talk.fetched[-1] == ["mine"]
    assert told(talk.answer(records())) == [("ours", 0, REFUSED, False)]


def test_the_first_request_acknowledges_nothing(rules: Making) -> None:
    talk = Member(rules(READS.format("mine")))
    assert talk.ask(fetch(0, "mine", acknowledging=True), 2).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("epoch", [2, 7, -5])
def test_a_request_whose_turn_it_is_not_is_refused_and_not_heeded(rules: Making, epoch: int) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Member(own)
    talk.ask(fetch(0, "mine", "ours"), 2)
    talk.answer(records("mine", "ours"))
    assert talk.ask(fetch(epoch, forget=["ours"]), 2).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    own.become(READS.format("mine"))
    talk.ask(fetch(1), 2)
    assert [each.topic_id for each in talk.to_broker[-1].forgotten_topics_data] == [topic_id("ours")]


def test_acknowledging_alone_takes_its_turn_too(rules: Making) -> None:
    talk = Member(rules(READS.format("mine")))
    talk.ask(fetch(0, "mine"), 2)
    talk.answer(records("mine"))
    for epoch in (1, 2):
        talk.ask(ShareAcknowledgeRequest(group_id="g", member_id="m", share_session_epoch=epoch, topics=[]), 2)
        talk.answer(ShareAcknowledgeResponse(throttle_time_ms=0, error_code=0, responses=[], node_endpoints=[]))
    assert talk.ask(fetch(1), 2).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert talk.ask(fetch(3), 2) is None


def test_records_of_anothers_session_of_the_same_name_are_withheld(rules: Making) -> None:
    """Brokers know a session by group and member: somebody else made it anew, with topics of theirs."""
    own = rules(READS.format("mine"))
    own.acl.names.learn([type("T", (), {"name": "theirs", "topic_id": topic_id("theirs")})])
    talk = Member(own)
    talk.ask(fetch(0, "mine"), 2)
    talk.answer(records("mine"))
    talk.ask(fetch(1), 2)
    assert told(talk.answer(records("mine", "theirs"))) == [("mine", 0, 0, True), ("theirs", REFUSED, 0, False)]


@pytest.mark.parametrize(
    ("shadow", "brokers", "is_over"), [(False, (1, 1), True), (True, (1, 1), False), (False, (1, 2), False)]
)
def test_a_session_that_another_client_opened_anew_at_the_broker_is_its_own(
    rules: Making, shadow: bool, brokers: tuple[int, int], is_over: bool
) -> None:
    own = rules(READS.format("mine, theirs"), shadow=shadow)
    first, second = Member(own), Member(own)
    first.connection.broker_id, second.connection.broker_id = brokers
    first.ask(fetch(0, "mine"), 2)
    first.answer(records("mine"))
    second.ask(fetch(0, "theirs"), 2)
    second.answer(records("theirs"))
    answer = first.ask(fetch(1), 2)
    assert not is_over or answer.error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert len(first.fetched) == 2 - is_over
    assert second.ask(fetch(1), 2) is None
    assert len(second.fetched) == 2


def test_a_session_with_records_of_topics_that_it_lacks_is_over(rules: Making) -> None:
    talk = Member(rules(READS.format("mine")))
    talk.ask(fetch(0, "mine"), 2)
    assert told(talk.answer(records("mine", "theirs")))[1][-1] is False, "they are withheld"
    assert talk.ask(fetch(1), 2).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert len(talk.fetched) == 1


def test_in_shadow_sessions_are_the_brokers_business(rules: Making) -> None:
    talk = Member(rules(READS.format("mine"), shadow=True))
    request = fetch(5, "theirs", acknowledging=True, forget=["theirs"])
    assert talk.ask(request, 2) is None
    assert talk.to_broker[-1] == request


@pytest.mark.parametrize(("epoch", "known"), [(3, False), (-1, False), (1, True), (-1, True)])
def test_a_session_is_known_where_it_was_opened(rules: Making, epoch: int, known: bool) -> None:
    talk = Member(rules(READS.format("mine")))
    if known:
        talk.ask(fetch(0, "mine"), 2)
        talk.answer(records("mine"))
    answer = talk.ask(fetch(epoch, "mine"), 2)
    assert (answer and answer.error_code) == (None if known else ErrorCode.SHARE_SESSION_NOT_FOUND)


def test_a_group_that_is_anothers_is_refused(rules: Making) -> None:
    talk = Member(rules("acls: [{allow: User:alice, to: Read, topics: mine}]"))
    assert talk.ask(fetch(0, "mine"), 2).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_a_short_request_of_a_large_session_lets_others_have_their_turn(rules: Making) -> None:
    talk = Member(rules(READS.format("mine")))
    talk.ask(fetch(0, "mine", "theirs", partitions=range(1_000)), 2)
    talk.answer(records("mine"))
    talk.turns = 0
    talk.ask(fetch(1), 2)
    assert len(told(talk.answer(records()))) == 1_000
    assert talk.turns > 1_000 // ELEMENTS


def test_what_is_to_be_said_of_a_large_session_is_counted_while_a_short_request_waits_for_its_answer(
    rules: Making,
) -> None:
    talk = Member(rules(READS.format("mine")))
    talk.ask(fetch(0, "mine", "theirs", partitions=range(1_000)), 2)
    talk.answer(records("mine"))
    before = talk.link.inflight.held
    talk.ask(fetch(1), 2)
    assert talk.link.inflight.held - before >= 1_000 * REFUSAL
    talk.answer(records())
    assert talk.link.inflight.held == before
