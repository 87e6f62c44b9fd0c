"""Failing closed: internal failures and their results. No message passes without a decision.

refused X    the client gets the error X; the broker sees nothing of it
closed       the connection ends; neither side gets anything of it
withheld     the broker answered; the client gets nothing of the response, and the connection ends
hidden       the response leaves without the resource
kept         the rules in force stay in force
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import plugins.acl.subscriptions
from plugins.acl import Acl
from proxy.core.events import HandlerFailed, Undecodable
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.protocol.api import ELECT_LEADERS, METADATA, PRODUCE, SHARE_FETCH
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest
from proxy.protocol.messages.elect_leaders import ElectLeadersRequest
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.init_producer_id import InitProducerIdRequest
from proxy.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from proxy.protocol.messages.share_fetch import ShareFetchRequest
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Meaning
from proxy.testing import build, from_broker
from proxy.text.problems import BadFileError
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id
from tests.plugins.acl.test_fetch import fetch, records
from tests.plugins.acl.test_produce import BATCH, produce

EVERYTHING = "super_users: [User:alice]"
MINE = "acls: [{allow: User:alice, to: All, topics: mine, groups: mine, transactional_ids: mine}]"
BY_DAY = "acls: [{allow: User:alice, to: All, topics: mine, during: {hours: 08:00-18:00}}]"
Making = Callable[..., Rules]
Failure = Callable[[Making, pytest.MonkeyPatch], str]
TABLE: list[Any] = []


def results_in(result: str) -> Callable[[Failure], Failure]:
    """One line of the table: its name says what goes wrong."""

    def noted(failure: Failure) -> Failure:
        TABLE.append(pytest.param(failure, result, id=failure.__name__))
        return failure

    return noted


def happens(talk: Talk, request: Request, version: int) -> str:
    """What becomes of a request: of its first error, or of it as a whole."""
    before = len(talk.to_broker)
    answer = talk.ask(request, version)
    return outcome(talk, answer, before)


def outcome(talk: Talk, answer: Any, before: int = 0) -> str:
    reached = [each for each in talk.to_broker[before:] if not _is_ours(each)]
    if answer is not None:
        errors = [error for error in _errors(answer) if error]
        return f"refused {ErrorCode(errors[0]).name}" if errors and not reached else "answered"
    if talk.closed:
        return "passed, then closed" if reached else "closed"
    return "passed" if reached else "nothing"


def _is_ours(request: Any) -> bool:
    return isinstance(request, MetadataRequest) and not request.allow_auto_topic_creation


def _errors(struct: Struct) -> list[int]:
    found: list[int] = []
    for field in struct.fields:
        value = getattr(struct, field.name)
        if field.meaning is Meaning.ERROR:
            found.append(value)
        elif isinstance(value, list | Struct):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, Struct):
                    found += _errors(child)
    return found


def knows(*names: str) -> Callable[[Request, int], Response | None]:
    """A broker that has these topics, and answers nothing else."""
    known = {name: topic_id(name) for name in names}
    return lambda it, version: metadata_of(known, it) if isinstance(it, MetadataRequest) else None


def explode(*arguments: Any, **options: Any) -> Any:
    raise ZeroDivisionError("boom")


def broken(own: Rules) -> Acl:
    """The rules cannot be asked."""
    snapshot: Any = own.acl.rules.value
    own.acl.rules.value = Breaking(snapshot)  # type: ignore[assignment]
    return own.acl


class Breaking:
    """Rules that raise when they are asked; other than that, as they were."""

    def __init__(self, snapshot: Any) -> None:
        self.rules = snapshot.rules
        self.decide = self.decide_by_type = explode


# Rules that raise.


@results_in("refused UNKNOWN_SERVER_ERROR")
def a_check_raises(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(broken(rules(EVERYTHING)))
    told = happens(talk, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
    assert [type(event) for event in talk.events] == [HandlerFailed]
    return told


@results_in("refused UNKNOWN_SERVER_ERROR")
def the_handler_of_produce_raises(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(broken(rules(EVERYTHING))), produce(9, "mine"), 9)


@results_in("closed")
def the_handler_of_produce_raises_and_nobody_waits(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(broken(rules(EVERYTHING))), produce(9, "mine", acks=0), 9)


@results_in("refused UNKNOWN_SERVER_ERROR")
def the_handler_of_fetch_raises(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(broken(rules(EVERYTHING))), fetch(12, "mine"), 12)


@results_in("withheld")
def the_handler_of_an_answer_raises(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    talk = Talk(own.acl)
    talk.ask(ListGroupsRequest(), 2)
    broken(own)
    group = ListGroupsResponse.Group(group_id="theirs", protocol_type="")
    patch.setattr("plugins.acl.request_authorizer.RequestAuthorizer.hides", explode)
    return answered(talk, ListGroupsResponse(error_code=0, groups=[group]))


@results_in("withheld")
def the_rules_raise_when_a_fetch_that_waited_is_answered(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    talk = Talk(own.acl)
    talk.ask(fetch(12, "mine"), 12)
    broken(own)
    return answered(talk, records(12, "mine"))


@results_in("withheld")
def nobody_can_say_whether_an_answer_must_be_looked_at(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    talk = Talk(own.acl)
    talk.ask(fetch(12, "mine"), 12)
    patch.setattr("plugins.acl.client_authorizer.ClientAuthorizer.decides_by", explode)
    return answered(talk, records(12, "mine"))


@results_in("refused UNKNOWN_SERVER_ERROR")
def nobody_can_say_whether_a_request_is_known(rules: Making, patch: pytest.MonkeyPatch) -> str:
    patch.setattr("plugins.acl.topics_fast_path.TopicsSample.goes_on", explode)
    talk = Talk(rules(MINE).acl, "User:alice")
    talk.ask(produce(9, "mine", "mine"), 9)
    talk._sent.clear()
    talk.link.inflight.slots.clear()
    patch.setattr("plugins.acl.topics_fast_path.TopicsSample.strangers", explode)
    patch.setattr("plugins.acl.client_authorizer.ClientAuthorizer.decides_by", explode)
    return happens(talk, produce(9, "mine", "mine"), 9)


def answered(talk: Talk, response: Response) -> str:
    """What the client gets of an answer."""
    answer = talk.answer(response)
    return "answered" if answer is not None else "withheld" if talk.closed else "nothing"


# Clocks.


@results_in("refused UNKNOWN_SERVER_ERROR")
def the_clock_raises(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(BY_DAY)
    own.acl.authorizer.now = explode
    return happens(Talk(own.acl), produce(9, "mine"), 9)


@results_in("refused UNKNOWN_SERVER_ERROR")
def the_clock_knows_no_time(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(BY_DAY)
    own.clock.time = math.nan
    return happens(Talk(own.acl), produce(9, "mine"), 9)


@results_in("passed, refused TOPIC_AUTHORIZATION_FAILED, passed")
def the_clock_jumps_back_and_forth(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(BY_DAY)
    told = []
    for seconds in (0, -8 * 3600, 8 * 3600):
        own.clock.time += seconds
        told.append(happens(Talk(own.acl), produce(9, "mine"), 9))
    return ", ".join(told)


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def the_clock_jumps_on_an_open_connection(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(BY_DAY)
    talk = Talk(own.acl)
    for _ in range(2):
        talk.ask(fetch(6, "mine"), 6)
        talk.answer(records(6, "mine"))
    own.clock.time -= 400 * 24 * 3600 + 8 * 3600
    return happens(talk, fetch(6, "mine"), 6)


# Frames.


def sends(acl: Acl, frame: bytes, longest: int = 1 << 20) -> str:
    """What becomes of bytes of a client."""
    talk = Talk(acl)
    talk.link = Link(talk.connection, Filters([acl]), Limits(frame=longest))
    talk.send(frame, PRODUCE, 9)
    return outcome(talk, None)


def cut(request: Request, version: int, by: int) -> bytes:
    """A frame whose end is missing, and which does not say so."""
    frame = request_frame(request, version, 1, "app")
    return SIZE.pack(len(frame) - SIZE.size - by) + frame[SIZE.size : len(frame) - by]


@results_in("closed")
def a_request_ends_within_its_topics(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(EVERYTHING).acl)
    talk.send(cut(MetadataRequest(topics=[MetadataRequest.Topic(name="mine")]), 9, 6), METADATA, 9)
    assert [type(event) for event in talk.events] == [Undecodable]
    return outcome(talk, None)


@results_in("closed")
def a_produce_request_ends_within_its_records(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return sends(rules(EVERYTHING).acl, cut(produce(9, "mine"), 9, 20))


@results_in("closed")
def a_count_is_larger_than_the_frame(rules: Making, patch: pytest.MonkeyPatch) -> str:
    frame = bytearray(request_frame(fetch(4, "mine"), 4, 1, "app"))
    at = len(request_frame(fetch(4), 4, 1, "app")) - 4
    frame[at : at + 4] = b"\x7f\xff\xff\xff"
    return sends(rules(EVERYTHING).acl, bytes(frame))


@results_in("closed")
def a_frame_is_too_large(rules: Making, patch: pytest.MonkeyPatch) -> str:
    frame = request_frame(produce(9, "mine", records=bytes(3000)), 9, 1, "app")
    return sends(rules(EVERYTHING).acl, frame, longest=2000)


@results_in("closed")
def the_size_of_a_frame_is_negative(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return sends(rules(EVERYTHING).acl, REQUEST_HEAD.pack(-5, PRODUCE.key << 16 | 9, 1))


@results_in("closed")
def an_api_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return sends(rules(EVERYTHING).acl, REQUEST_HEAD.pack(10, 4242 << 16, 1) + b"\xff\xff")


@results_in("closed")
def a_version_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return sends(rules(EVERYTHING).acl, REQUEST_HEAD.pack(10, METADATA.key << 16 | 99, 1) + b"\xff\xff")


@results_in("closed")
def an_api_is_for_brokers(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return sends(rules(EVERYTHING).acl, REQUEST_HEAD.pack(10, 58 << 16, 1) + b"\xff\xff")


@results_in("refused CLUSTER_AUTHORIZATION_FAILED")
def an_api_is_not_in_the_table(rules: Making, patch: pytest.MonkeyPatch) -> str:
    acl = rules(EVERYTHING).acl
    del acl._checks[ELECT_LEADERS]
    return happens(Talk(acl), ElectLeadersRequest(topic_partitions=None), 2)


@results_in("withheld")
def an_answer_that_must_be_filtered_cannot_be_read(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(MINE).acl)
    talk.ask(MetadataRequest(topics=None), 9)
    topic = MetadataResponse.Topic(error_code=0, name="theirs", topic_id=bytes(16), partitions=[])
    frame = response_frame(MetadataResponse(brokers=[], topics=[topic]), 9, 1)
    broken = SIZE.pack(len(frame) - SIZE.size - 5) + frame[SIZE.size : -5]
    talk._carry_out(from_broker(talk.link, memoryview(bytearray(broken))))
    assert not talk._got
    return "withheld" if talk.closed else "answered"


@results_in("withheld")
def an_answer_that_must_be_judged_again_cannot_be_read(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    talk = Talk(own.acl)
    talk.ask(fetch(12, "mine"), 12)
    own.become("acls: []")
    frame = response_frame(records(12, "mine"), 12, 1)
    broken = SIZE.pack(len(frame) - SIZE.size - 9) + frame[SIZE.size : -9]
    talk._carry_out(from_broker(talk.link, memoryview(bytearray(broken))))
    assert not talk._got
    return "withheld" if talk.closed else "answered"


# Records.


@results_in("refused TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
def records_are_cut_and_may_be_of_a_transaction(rules: Making, patch: pytest.MonkeyPatch) -> str:
    request = produce(9, "mine", records=BATCH[:22], transactional_id="theirs")
    return happens(Talk(rules(MINE).acl), request, 9)


# Names.


@results_in("refused UNKNOWN_TOPIC_ID")
def an_id_of_a_produce_request_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl, broker=knows()), produce(13, "gone"), 13)


@results_in("hidden")
def an_id_of_a_fetch_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(EVERYTHING).acl, broker=knows("mine"))
    talk.ask(fetch(13, "mine", "gone"), 13)
    (request,) = [each for each in talk.to_broker if isinstance(each, FetchRequest)]
    assert [each.topic_id for each in request.topics] == [topic_id("mine")]
    answer = talk.answer(records(13, "mine"))
    return "hidden" if _errors(answer).count(ErrorCode.UNKNOWN_TOPIC_ID) == 2 else "answered"


def share_fetch(epoch: int, *names: str) -> ShareFetchRequest:
    partition = ShareFetchRequest.Topic.Partition(partition_index=0, acknowledgement_batches=[])
    return ShareFetchRequest(
        group_id="mine",
        member_id="m",
        share_session_epoch=epoch,
        max_wait_ms=1,
        min_bytes=1,
        topics=[ShareFetchRequest.Topic(topic_id=topic_id(name), partitions=[partition]) for name in names],
        forgotten_topics_data=[],
    )


@results_in("refused UNKNOWN_SERVER_ERROR")
def an_id_of_a_share_fetch_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl, broker=knows()), share_fetch(0, "gone"), SHARE_FETCH.newest)


@results_in("hidden")
def an_answer_speaks_of_an_id_that_nobody_knows(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(EVERYTHING).acl, broker=knows("mine"))
    group = OffsetFetchRequest.Group(group_id="mine", topics=None)
    talk.ask(OffsetFetchRequest(groups=[group]), 10)
    topics = [OffsetFetchResponse.Group.Topic(topic_id=topic_id(name), partitions=[]) for name in ("mine", "gone")]
    told = OffsetFetchResponse.Group(group_id="mine", topics=topics, error_code=0)
    answer = talk.answer(OffsetFetchResponse(groups=[told]))
    return "hidden" if [each.topic_id for each in answer.groups[0].topics] == [topic_id("mine")] else "answered"


@results_in("closed")
def the_broker_leaves_while_it_is_asked_for_a_name(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(EVERYTHING).acl)
    talk.ask(produce(13, "mine"), 13)
    talk._carry_out(talk.link.broker_closed())
    return outcome(talk, None)


@results_in("refused UNKNOWN_SERVER_ERROR")
def the_broker_answers_a_question_with_what_cannot_be_read(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(EVERYTHING).acl)
    talk.ask(fetch(13, "mine"), 13)
    talk._asked.clear()
    talk._carry_out(from_broker(talk.link, memoryview(bytearray(SIZE.pack(8) + bytes(8)))))
    return outcome(talk, talk._got.pop(0))


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def the_rules_change_while_the_broker_is_asked_for_a_name(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    talk = Talk(own.acl)
    talk.ask(produce(13, "mine"), 13)
    own.become("acls: []")
    return outcome(talk, talk.answer(metadata_of({"mine": topic_id("mine")}, talk.to_broker[0])))


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def a_topic_is_said_by_a_good_name_and_a_bad_id(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(MINE).acl, broker=knows("mine", "theirs"))
    both = MetadataRequest.Topic(name="mine", topic_id=topic_id("theirs"))
    talk.ask(MetadataRequest(topics=[both], allow_auto_topic_creation=True), 12)
    assert [each.topics for each in talk.to_broker if not _is_ours(each)] == [[]]
    return f"refused {talk.denied and ErrorCode.TOPIC_AUTHORIZATION_FAILED.name}"


# Rules and who asks.


@results_in("kept")
def the_file_of_rules_is_deleted(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    own.file.unlink()
    return reloads(own)


@results_in("kept")
def the_file_of_rules_is_broken(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    own.file.write_text("acls: [{allow: User:alice, to: Raed, topics: '*'}]")
    return reloads(own)


@results_in("kept")
def the_file_of_rules_is_empty(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    own.file.write_text("")
    return reloads(own)


def reloads(own: Rules) -> str:
    """What holds after the file was looked at again."""
    (reload,) = own.worker.look()
    assert reload.said
    told = [happens(Talk(own.acl), produce(9, name), 9) for name in ("mine", "theirs")]
    kept = told == ["passed", "refused TOPIC_AUTHORIZATION_FAILED"] and not reload.taken
    return "kept" if kept else f"{told}"


@results_in("not started")
def there_is_no_file_of_rules_to_begin_with(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules(MINE)
    own.file.unlink()
    try:
        build(Acl, rules=str(own.file))
    except BadFileError:
        return "not started"
    return "started"


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def only_the_broker_knows_who_the_client_is(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules("unmatched: allow\nacls: [{allow: User:*, to: All, topics: '*'}]")
    return happens(Talk(own.acl, None), produce(9, "mine"), 9)


@results_in("refused CLUSTER_AUTHORIZATION_FAILED")
def only_the_broker_knows_who_wants_to_produce(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules("unmatched: allow")
    return happens(Talk(own.acl, None), InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1), 4)


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def a_client_is_called_everybody(rules: Making, patch: pytest.MonkeyPatch) -> str:
    own = rules("acls: [{allow: User:*, to: All, topics: '*'}]")
    return happens(Talk(own.acl, "User:*"), produce(9, "mine"), 9)


@results_in("refused TOPIC_AUTHORIZATION_FAILED")
def nobody_asked_who_the_client_is(rules: Making, patch: pytest.MonkeyPatch) -> str:
    talk = Talk(rules(MINE).acl, None)
    talk.connection.mechanism = None
    return happens(talk, produce(9, "mine"), 9)


# Sessions.


@results_in("refused FETCH_SESSION_ID_NOT_FOUND")
def a_fetch_session_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl), fetch(12, "mine", session=(77, 3)), 12)


@results_in("refused SHARE_SESSION_NOT_FOUND")
def a_share_session_is_unknown(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl, broker=knows("mine")), share_fetch(3, "mine"), SHARE_FETCH.newest)


# What cannot be resolved.


def heartbeat(expression: str) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id="mine", member_id="m", member_epoch=0, subscribed_topic_regex=expression
    )


@results_in("refused INVALID_REGULAR_EXPRESSION")
def an_expression_is_none(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl, broker=knows("mine")), heartbeat("m("), 1)


@results_in("refused UNKNOWN_SERVER_ERROR")
def an_expression_cannot_be_resolved(rules: Making, patch: pytest.MonkeyPatch) -> str:
    patch.setattr(plugins.acl.subscriptions, "matching", explode)
    return happens(Talk(rules(EVERYTHING).acl, broker=knows("mine")), heartbeat("m.*"), 1)


@results_in("refused INVALID_REQUEST")
def a_config_resource_is_of_an_unknown_type(rules: Making, patch: pytest.MonkeyPatch) -> str:
    resource = DescribeConfigsRequest.Resource(resource_type=99, resource_name="x", configuration_keys=None)
    return happens(Talk(rules(EVERYTHING).acl), DescribeConfigsRequest(resources=[resource]), 4)


@results_in("refused INVALID_REQUEST")
def a_coordinator_is_of_an_unknown_type(rules: Making, patch: pytest.MonkeyPatch) -> str:
    return happens(Talk(rules(EVERYTHING).acl), FindCoordinatorRequest(key="x", key_type=9), 3)


@pytest.mark.parametrize(("failure", "result"), TABLE)
def test_what_then_happens(failure: Failure, result: str, rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    assert failure(rules, monkeypatch) == result


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 25
