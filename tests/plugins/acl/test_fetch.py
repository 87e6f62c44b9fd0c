"""Fetch: the topics that a client may read, with sessions, while rules change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from plugins.acl.fetched import REFUSAL
from plugins.acl.sessions import AGAIN
from proxy.core.fetch_session import LAST
from proxy.core.fetch_sessions import FetchSessions
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.slices import ELEMENTS
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

READS = "acls: [{{allow: User:alice, to: Read, topics: [{}]}}]"
OK, REFUSED, UNKNOWN = 0, ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_ID
Making = Callable[..., Rules]
BY_NAME, BY_ID = 12, 13
ALL = range(19)
WITH_SESSIONS = range(7, 19)


def topic(cls: type[Any], name: str, version: int, partitions: Iterable[Any]) -> Any:
    about = {"topic_id": topic_id(name)} if version >= BY_ID else {"topic": name}
    return cls(partitions=[*partitions], **about)


def fetch(
    version: int,
    *topics: str,
    session: tuple[int, int] = (0, -1),
    forget: Iterable[str] = (),
    offset: int = 5,
    **more: Any,
) -> FetchRequest:
    """Two partitions of each topic."""
    partition = FetchRequest.Topic.Partition
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        session_id=session[0],
        session_epoch=session[1],
        topics=[
            topic(
                FetchRequest.Topic,
                name,
                version,
                [partition(partition=index, fetch_offset=offset, partition_max_bytes=1000) for index in (0, 1)],
            )
            for name in topics
        ],
        forgotten_topics_data=[topic(FetchRequest.ForgottenTopic, name, version, (0, 1)) for name in forget],
        **more,
    )


def records(version: int, *topics: str, session: int = 0) -> FetchResponse:
    """A record of each."""
    partition = FetchResponse.Topic.Partition
    return FetchResponse(
        session_id=session,
        responses=[
            topic(
                FetchResponse.Topic,
                name,
                version,
                [
                    partition(
                        partition_index=index,
                        error_code=0,
                        high_watermark=9,
                        aborted_transactions=[],
                        records=b"record",
                    )
                    for index in (0, 1)
                ],
            )
            for name in topics
        ],
    )


def told(answer: FetchResponse) -> list[tuple[str, set[int], bool]]:
    """Topic, errors, and whether there are records."""
    return [
        (
            named(each),
            {p.error_code for p in each.partitions},
            any(p.records for p in each.partitions),
        )
        for each in answer.responses
    ]


def named(each: Any) -> str:
    found: str = each.topic or each.topic_id.rstrip(b"\0").decode()
    return found


def asked(request: FetchRequest) -> list[str]:
    return [named(each) for each in request.topics]


class Consumer(Talk):
    """Its broker answers Metadata by itself; Fetch is the test's."""

    def __init__(self, rules: Rules, *topics: str, principal: str | None = "User:alice") -> None:
        known = {name: topic_id(name) for name in topics or ("mine", "theirs", "ours")}
        super().__init__(
            rules.acl, principal, lambda it, v: metadata_of(known, it) if isinstance(it, MetadataRequest) else None
        )

    @property
    def fetched(self) -> list[FetchRequest]:
        return [each for each in self.to_broker if isinstance(each, FetchRequest)]

    def opened(self, version: int, *topics: str) -> Any:
        """A session with these topics, whose number is 7; its first answer."""
        assert self.ask(fetch(version, *topics, session=(0, 0)), version) is None
        allowed = asked(self.fetched[-1])
        return self.answer(records(version, *allowed, session=7))


@pytest.mark.parametrize("version", ALL)
def test_a_refused_topic_is_not_fetched_and_its_partitions_are_in_error(rules: Making, version: int) -> None:
    talk = Consumer(rules(READS.format("mine")))
    assert talk.ask(fetch(version, "theirs", "mine"), version) is None
    assert asked(talk.fetched[0]) == ["mine"]
    answer = talk.answer(records(version, "mine"))
    assert told(answer) == [("mine", {OK}, True), ("theirs", {REFUSED}, False)]
    assert [p.partition_index for p in answer.responses[1].partitions] == [0, 1]


@pytest.mark.parametrize("version", [*range(7)])
def test_without_sessions_what_is_all_refused_is_answered_at_once(rules: Making, version: int) -> None:
    talk = Consumer(rules(READS.format("mine")))
    assert told(talk.ask(fetch(version, "theirs"), version)) == [("theirs", {REFUSED}, False)]
    assert not talk.to_broker


@pytest.mark.parametrize("version", WITH_SESSIONS)
def test_a_refused_topic_stays_out_of_the_brokers_session_and_its_error_is_repeated(
    rules: Making, version: int
) -> None:
    talk = Consumer(rules(READS.format("mine")))
    first = talk.opened(version, "theirs", "mine")
    assert told(first) == [("mine", {OK}, True), ("theirs", {REFUSED}, False)]
    assert first.session_id == 7
    for epoch in (1, 2):
        talk.ask(fetch(version, session=(7, epoch)), version)
        assert talk.fetched[-1] == fetch(version, session=(7, epoch)), "nothing of it is changed"
        assert told(talk.answer(records(version))) == [("theirs", {REFUSED}, False)]
    assert talk.denied == [("Read", "Topic", "theirs")]


@pytest.mark.parametrize("version", WITH_SESSIONS)
def test_a_topic_that_is_refused_from_now_on_is_forgotten_by_the_broker(rules: Making, version: int) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Consumer(own)
    assert told(talk.opened(version, "mine", "ours")) == [("mine", {OK}, True), ("ours", {OK}, True)]
    own.become(READS.format("mine"))
    talk.ask(fetch(version, session=(7, 1)), version)
    request = talk.fetched[-1]
    assert [(named(each), each.partitions) for each in request.forgotten_topics_data] == [("ours", [0, 1])]
    assert told(talk.answer(records(version, "mine"))) == [("mine", {OK}, True), ("ours", {REFUSED}, False)]
    own.become(READS.format("mine, ours"))
    talk.ask(fetch(version, session=(7, 2)), version)
    assert talk.fetched[-1].topics == fetch(version, "ours").topics, "it is put back as the client wanted it"
    assert not talk.fetched[-1].forgotten_topics_data
    assert told(talk.answer(records(version, "ours"))) == [("ours", {OK}, True)]


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_a_fetch_that_waited_while_the_rules_changed_brings_no_record_of_what_is_refused(
    rules: Making, version: int
) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Consumer(own)
    talk.ask(fetch(version, "mine", "ours"), version)
    own.become(READS.format("mine"))
    answer = talk.answer(records(version, "mine", "ours"))
    assert told(answer) == [("mine", {OK}, True), ("ours", {REFUSED}, False)]


def test_an_answer_passes_as_it_came_while_nothing_changed(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.ask(fetch(BY_NAME, "mine"), BY_NAME)
    (slot,) = talk.link.inflight.slots
    route: Any = slot[1]
    assert route.of_response(slot[2]).response is None
    assert told(talk.answer(records(BY_NAME, "mine"))) == [("mine", {OK}, True)]


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_what_is_asked_for_and_forgotten_in_one_session_is_followed(rules: Making, version: int) -> None:
    talk = Consumer(rules(READS.format("mine, ours")))
    talk.opened(version, "mine", "theirs")
    talk.ask(fetch(version, "ours", "theirs", session=(7, 1), offset=8), version)
    assert talk.fetched[-1].topics == fetch(version, "ours", offset=8).topics
    assert told(talk.answer(records(version, "ours"))) == [("ours", {OK}, True), ("theirs", {REFUSED}, False)]
    talk.ask(fetch(version, session=(7, 2), forget=["theirs", "mine"]), version)
    assert told(talk.answer(records(version))) == [], "nobody asks for it any more"


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_another_connections_session_is_not_found(rules: Making, version: int) -> None:
    own = rules(READS.format("mine"))
    Consumer(own).opened(version, "mine")
    thief = Consumer(own, principal="User:mallory")
    answer = thief.ask(fetch(version, session=(7, 1)), version)
    assert (answer.error_code, answer.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    assert not thief.fetched


@pytest.mark.parametrize("version", WITH_SESSIONS)
@pytest.mark.parametrize("epoch", [0, -1])
def test_what_a_full_request_forgets_is_asked_for_all_the_same(rules: Making, version: int, epoch: int) -> None:
    """Brokers do not heed it."""
    own = rules(READS.format("mine"))
    talk = Consumer(own)
    talk.ask(fetch(version, "mine", "theirs", session=(0, epoch), forget=["mine", "theirs"]), version)
    assert asked(talk.fetched[-1]) == ["mine"]
    answer = talk.answer(records(version, "mine", session=7 + 7 * epoch))
    assert told(answer) == [("mine", {OK}, True), ("theirs", {REFUSED}, False)]
    if epoch == 0:
        own.become(READS.format("ours"))
        talk.ask(fetch(version, session=(7, 1)), version)
        assert [named(each) for each in talk.fetched[-1].forgotten_topics_data] == ["mine"]


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
@pytest.mark.parametrize("epoch", [2, 5, -2, -(2**31), 2**31 - 1])
def test_a_request_whose_turn_it_is_not_is_refused_and_not_heeded(rules: Making, version: int, epoch: int) -> None:
    own = rules(READS.format("mine, ours"))
    talk = Consumer(own)
    talk.opened(version, "mine", "ours")
    answer = talk.ask(fetch(version, session=(7, epoch), forget=["ours"]), version)
    assert (answer.error_code, answer.responses) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, [])
    assert len(talk.fetched) == 1
    own.become(READS.format("mine"))
    talk.ask(fetch(version, session=(7, 1)), version)
    assert [named(each) for each in talk.fetched[-1].forgotten_topics_data] == ["ours"], "its broker still has it"


def test_epochs_begin_again_after_the_last(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(BY_NAME, "mine")
    (sessions,) = (each for each in talk.connection.notes.values() if isinstance(each, FetchSessions))
    sessions._open[7].epoch = LAST - 1
    for epoch, error in (
        (LAST - 1, None),
        (LAST, None),
        (1, None),
        (1, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (2, None),
    ):
        answer = talk.ask(fetch(BY_NAME, session=(7, epoch)), BY_NAME)
        assert (answer and answer.error_code) == error
        if answer is None:
            talk.answer(records(BY_NAME))


def test_a_session_has_names_or_ids(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(BY_NAME, "mine")
    assert talk.ask(fetch(BY_ID, session=(7, 1)), BY_ID).error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    assert talk.ask(fetch(BY_NAME, session=(7, 1)), BY_NAME) is None


@pytest.mark.parametrize("session", [(7, 1), (7, 3), (9, 1)])
def test_in_shadow_sessions_are_the_brokers_business(rules: Making, session: tuple[int, int]) -> None:
    talk = Consumer(rules(READS.format("mine"), shadow=True))
    talk.opened(BY_NAME, "mine")
    assert talk.ask(fetch(BY_NAME, "theirs", session=session), BY_NAME) is None
    assert talk.fetched[-1] == fetch(BY_NAME, "theirs", session=session)
    assert talk.denied == [("Read", "Topic", "theirs")]


def test_a_session_that_is_empty_is_no_more_and_what_was_asked_is_answered_once(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(BY_NAME, "mine")
    talk.ask(fetch(BY_NAME, "theirs", session=(7, 1), forget=["theirs", "mine"]), BY_NAME)
    assert told(talk.answer(records(BY_NAME))) == [("theirs", {REFUSED}, False)]
    answer = talk.ask(fetch(BY_NAME, session=(7, 2)), BY_NAME)
    assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_session_that_the_client_gave_up_is_not_known_any_more(rules: Making, epoch: int) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(BY_NAME, "mine")
    talk.ask(fetch(BY_NAME, "mine", session=(7, epoch)), BY_NAME)
    talk.answer(records(BY_NAME, "mine"))
    answer = talk.ask(fetch(BY_NAME, session=(7, 1)), BY_NAME)
    assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_the_broker_did_not_make_is_none(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.ask(fetch(BY_NAME, "mine", "theirs", session=(0, 0)), BY_NAME)
    answer = talk.answer(records(BY_NAME, "mine", session=0))
    assert told(answer) == [("mine", {OK}, True), ("theirs", {REFUSED}, False)]
    assert talk.ask(fetch(BY_NAME, session=(0, 1)), BY_NAME).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_an_error_of_the_whole_answer_passes(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(BY_NAME, "mine", "theirs")
    talk.ask(fetch(BY_NAME, session=(7, 1)), BY_NAME)
    failed = FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, responses=[])
    assert talk.answer(failed) == failed


@pytest.mark.parametrize("version", WITH_SESSIONS)
@pytest.mark.parametrize("before", range(4))
def test_a_session_is_over_when_the_broker_answers_with_an_error(rules: Making, version: int, before: int) -> None:
    """Also where earlier requests and answers of it passed unread."""
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(version, "mine")
    for epoch in range(1, 1 + before):
        talk.ask(fetch(version, session=(7, epoch)), version)
        assert told(talk.answer(records(version, "mine"))) == [("mine", {OK}, True)]
    talk.ask(fetch(version, session=(7, 1 + before)), version)
    failed = FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, responses=[])
    assert talk.answer(failed) == failed
    answer = talk.ask(fetch(version, session=(7, 2 + before)), version)
    assert (answer.error_code, answer.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    assert len(talk.fetched) == 2 + before


@pytest.mark.parametrize("version", WITH_SESSIONS)
def test_what_another_client_put_into_a_session_unseen_is_not_served_to_who_gets_back_into_step(
    rules: Making, version: int
) -> None:
    talk = Consumer(rules(READS.format("mine")))
    talk.opened(version, "mine")
    for epoch in (1, 2):
        talk.ask(fetch(version, session=(7, epoch)), version)
    before = len(talk.fetched)
    talk.answer(FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, responses=[]))
    assert talk.rest() == [FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[])]
    assert len(talk.fetched) == before


def test_an_unknown_id_is_asked_for_and_refused_where_nobody_knows_it(rules: Making) -> None:
    talk = Consumer(rules(READS.format("mine")), "mine")
    talk.ask(fetch(BY_ID, "mine", "gone"), BY_ID)
    (question,) = [each for each in talk.to_broker if isinstance(each, MetadataRequest)]
    assert [each.topic_id for each in question.topics] == [topic_id("mine"), topic_id("gone")]
    assert not question.allow_auto_topic_creation
    assert told(talk.answer(records(BY_ID, "mine"))) == [("mine", {OK}, True), ("gone", {UNKNOWN}, False)]


def test_a_topic_that_is_made_anew_has_another_id_which_is_asked_for(rules: Making) -> None:
    own = rules(READS.format("mine"))
    known = {"mine": topic_id("first")}
    talk = Talk(own.acl, broker=lambda it, v: metadata_of(known, it) if isinstance(it, MetadataRequest) else None)
    talk.ask(fetch(BY_ID, "first", session=(0, 0)), BY_ID)
    talk.answer(records(BY_ID, "first", session=7))
    known["mine"] = topic_id("second")
    talk.ask(fetch(BY_ID, "second", session=(7, 1), forget=["first"]), BY_ID)
    assert asked(talk.to_broker[-1]) == ["second"]
    assert told(talk.answer(records(BY_ID, "second"))) == [("second", {OK}, True)]


def test_an_id_that_becomes_known_is_served_in_the_same_session(rules: Making) -> None:
    known: dict[str, bytes] = {}
    own = rules(READS.format("mine"))
    talk = Talk(own.acl, broker=lambda it, v: metadata_of(known, it) if isinstance(it, MetadataRequest) else None)
    talk.ask(fetch(BY_ID, "mine", session=(0, 0)), BY_ID)
    assert told(talk.answer(records(BY_ID, session=7))) == [("mine", {UNKNOWN}, False)]
    own.acl.names.learn([type("Topic", (), {"name": "mine", "topic_id": topic_id("mine")})])
    talk.ask(fetch(BY_ID, session=(7, 1)), BY_ID)
    assert asked(talk.to_broker[-1]) == ["mine"]
    assert told(talk.answer(records(BY_ID, "mine"))) == [("mine", {OK}, True)]


def test_the_name_of_an_unknown_id_is_asked_for_again_once_a_second(rules: Making) -> None:
    known: dict[str, bytes] = {}
    own = rules(READS.format("mine"))
    talk = Talk(own.acl, broker=lambda it, v: metadata_of(known, it) if isinstance(it, MetadataRequest) else None)
    talk.ask(fetch(BY_ID, "mine", session=(0, 0)), BY_ID)
    talk.answer(records(BY_ID, session=7))
    talk.ask(fetch(BY_ID, session=(7, 1)), BY_ID)
    talk.answer(records(BY_ID))
    known["mine"] = topic_id("mine")
    questions = len([each for each in talk.to_broker if isinstance(each, MetadataRequest)])
    talk.ask(fetch(BY_ID, session=(7, 2)), BY_ID)
    assert told(talk.answer(records(BY_ID))) == [("mine", {UNKNOWN}, False)]
    assert len([each for each in talk.to_broker if isinstance(each, MetadataRequest)]) == questions
    own.clock.time += AGAIN
    talk.ask(fetch(BY_ID, session=(7, 3)), BY_ID)
    assert asked(talk.to_broker[-1]) == ["mine"]
    assert told(talk.answer(records(BY_ID, "mine"))) == [("mine", {OK}, True)]


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("may", [False, True])
def test_a_follower_needs_the_right_of_brokers(rules: Making, version: int, may: bool) -> None:
    own = rules("super_users: [User:alice]" if may else READS.format("mine"))
    talk = Consumer(own)
    state = FetchRequest.ReplicaState(replica_id=2)
    answer = talk.ask(fetch(version, "mine", replica_id=2, replica_state=state), version)
    assert len(talk.fetched) == may
    if not may:
        assert told(answer) == [("mine", {REFUSED}, False)]
        assert talk.denied == [("ClusterAction", "Cluster", "kafka-cluster")]


@pytest.mark.parametrize("version", ALL)
def test_a_follower_that_waited_while_it_lost_the_right_of_brokers_gets_no_record(rules: Making, version: int) -> None:
    own = rules("super_users: [User:alice]")
    for may in (True, False):
        talk = Consumer(own)
        state = FetchRequest.ReplicaState(replica_id=2)
        talk.ask(fetch(version, "mine", replica_id=2, replica_state=state), version)
        own.become("super_users: [User:alice, User:bob]" if may else READS.format("mine"))
        assert told(talk.answer(records(version, "mine"))) == [("mine", {OK if may else REFUSED}, may)]


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_in_shadow_all_is_fetched_and_all_is_told(rules: Making, version: int) -> None:
    talk = Consumer(rules(READS.format("mine"), shadow=True))
    talk.ask(fetch(version, "mine", "theirs"), version)
    assert asked(talk.fetched[0]) == ["mine", "theirs"]
    assert talk.denied == [("Read", "Topic", "theirs")]
    assert told(talk.answer(records(version, "mine", "theirs"))) == [("mine", {OK}, True), ("theirs", {OK}, True)]


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_a_short_request_of_a_large_session_lets_others_have_their_turn(rules: Making, version: int) -> None:
    own, many = rules(READS.format("mine")), [f"theirs-{number}" for number in range(1_000)]
    talk = Consumer(own, "mine", *many)
    talk.opened(version, "mine", *many)
    talk.turns = 0
    talk.ask(fetch(version, session=(7, 1)), version)
    told_of = talk.answer(records(version))
    assert len(told_of.responses) == len(many)
    assert talk.turns > len(many) // ELEMENTS
    own.become(READS.format("ours"))
    talk.turns = 0
    talk.ask(fetch(version, session=(7, 2)), version)
    assert talk.turns > len(many) // ELEMENTS


def test_it_does_so_too_after_asking_for_the_name_of_a_topic(rules: Making) -> None:
    many = [f"theirs-{number}" for number in range(1_000)]
    talk = Consumer(rules(READS.format("mine")), "mine", *many)
    talk.opened(BY_ID, "mine", *many)
    talk.turns = 0
    talk.ask(fetch(BY_ID, "nobodys", session=(7, 1)), BY_ID)
    assert talk.turns > len(many) // ELEMENTS


def test_what_is_to_be_said_of_a_large_session_is_counted_while_its_requests_wait_for_answers(rules: Making) -> None:
    talk, many = Consumer(rules(READS.format("mine"))), [f"theirs-{number}" for number in range(100)]
    talk.opened(BY_NAME, "mine", *many)
    before = talk.link.inflight.held
    talk.ask(fetch(BY_NAME, session=(7, 1)), BY_NAME)
    assert talk.link.inflight.held - before >= 2 * REFUSAL * len(many)
    talk.answer(records(BY_NAME))
    assert talk.link.inflight.held == before
