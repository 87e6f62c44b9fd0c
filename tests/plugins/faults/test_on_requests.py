"""Faults find the resources that they match in a request, and several may match one."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.ledger import Result
from plugins.faults.near_misses import FEW
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.protocol.api import SHARE_FETCH
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.messages.share_fetch import ShareFetchRequest
from proxy.protocol.refuse import refuse
from tests.plugins.acl.talk import Rules, topic_id
from tests.plugins.acl.test_share_fetch import fetch as share_fetch
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, fetch, produce, serving


@pytest.mark.parametrize("version", [3, 9, 12, 13])
def test_what_is_not_meant_of_a_request_is_served(tmp_path: Path, version: int) -> None:
    text = "faults: [{match: {api: Produce, topic: orders, partition: 1}, do: {error: KAFKA_STORAGE_ERROR}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    request = produce("orders", "payments", partitions=2)
    if version >= 13:
        for topic in request.topic_data:
            topic.topic_id = topic_id(topic.name)
    answer = talk.ask(request, version)
    said = {
        (topic.name or topic.topic_id.rstrip(b"\0").decode(), it.index): ErrorCode(it.error_code).name
        for topic in answer.responses
        for it in topic.partition_responses
    }
    assert said == {
        ("orders", 0): "NONE",
        ("orders", 1): "KAFKA_STORAGE_ERROR",
        ("payments", 0): "NONE",
        ("payments", 1): "NONE",
    }
    (reached,) = [it for it in talk.to_broker if isinstance(it, ProduceRequest)]
    assert [len(topic.partition_data) for topic in reached.topic_data] == [1, 2]


def test_a_topic_of_which_all_is_meant_does_not_reach_the_broker(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce, topic: orders}, do: {error: KAFKA_STORAGE_ERROR}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    answer = talk.ask(produce("orders", "payments", partitions=2), 9)
    assert errors(answer)["orders", 1] == "KAFKA_STORAGE_ERROR"
    assert errors(answer)["payments", 1] == "NONE"
    assert [topic.name for topic in talk.to_broker[0].topic_data] == ["payments"]


def test_the_topics_of_an_answer_show_what_a_request_for_all_of_them_meant(tmp_path: Path) -> None:
    error = "{code: LEADER_NOT_AVAILABLE, side: after_broker}"
    text = f"faults: [{{match: {{api: Metadata, topic: orders}}, do: {{error: {error}}}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    answer = talk.ask(MetadataRequest(topics=None), 9)
    assert {topic.name: topic.error_code for topic in answer.topics} == {"orders": 5, "payments": 0}


def test_a_near_miss_says_what_the_request_was_about(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce, topic: order}, do: hold}]")
    FaultTalk(faults, serving).ask(produce("orders", "payments"), 9)
    assert faults.told == [
        'fault 1: near miss: Produce v9 #1 of 192.0.2.1:50000 to broker 1: topic is "orders", not "order"',
        'fault 1: near miss: Produce v9 #1 of 192.0.2.1:50000 to broker 1: topic is "payments", not "order"',
    ]


def test_near_misses_are_noted_once_for_each_reason_and_only_the_first_few(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{name: one, match: {api: Produce, topic: order}, do: hold}]")
    talk = FaultTalk(faults, serving)
    for number in range(3 * FEW):
        talk.ask(produce("orders", "payments", f"topic-{number}", partitions=2), 9)
    told = [entry.why for entry in faults.plugin.ledger.of("one", Result.NEAR_MISS)]
    assert told[:2] == ['topic is "orders", not "order"', 'topic is "payments", not "order"']
    assert len(told) == len(set(told)) == FEW


def test_another_client_is_a_near_miss_where_that_alone_is_wrong(tmp_path: Path) -> None:
    text = """
        faults:
          - {name: bob, match: {api: Produce, principal: User:bob, topic: orders}, do: hold}
          - {name: far, match: {api: Produce, principal: User:bob, listener: other}, do: hold}
    """
    faults = FaultFile(tmp_path, text)
    FaultTalk(faults, serving).ask(produce("orders"), 9)
    assert [(entry.fault, entry.why) for entry in faults.plugin.ledger] == [
        ("bob", 'principal is "User:alice", not "User:bob"')
    ]


def test_clients_have_no_fetch_sessions_about_what_a_fault_is_about(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Fetch, topic: orders}, do: {error: NOT_LEADER_OR_FOLLOWER}}]")
    talk = FaultTalk(faults, serving)
    within = talk.ask(fetch(session_id=5, session_epoch=3), 12)
    assert (within.error_code, talk.to_broker) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    answer = talk.ask(fetch("orders", session_epoch=0), 12)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert talk.to_broker == []
    both = talk.ask(fetch("payments", "orders", session_epoch=0), 12)
    assert [it.partitions[0].error_code for it in both.responses] == [0, ErrorCode.NOT_LEADER_OR_FOLLOWER]
    assert [it.session_epoch for it in talk.to_broker] == [-1]


def test_a_fetch_session_that_no_fault_is_about_goes_on_until_one_may_be(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Fetch, topic: orders}, do: {error: NOT_LEADER_OR_FOLLOWER}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)

    def ask(*topics: str, session_id: int, session_epoch: int) -> ErrorCode:
        return ErrorCode(talk.ask(fetch(*topics, session_id=session_id, session_epoch=session_epoch), 12).error_code)

    for session in (5, 7):
        assert ask("payments", session_id=0, session_epoch=0) == ErrorCode.NONE
        assert [ask(session_id=session, session_epoch=epoch) for epoch in (1, 2, 3)] == [ErrorCode.NONE] * 3
        assert ask("others", session_id=session, session_epoch=4) == ErrorCode.NONE
        assert ask(session_id=6, session_epoch=1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert ask("orders", session_id=session, session_epoch=5) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert {it.session_epoch for it in talk.to_broker} == {0, 1, 2, 3, 4}
    faults.become(f"{text}\nseed: 8")
    assert ask(session_id=7, session_epoch=5) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_fault_about_all_fetches_that_answers_partition_by_partition_undoes_sessions_too(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Fetch}, do: {error: NOT_LEADER_OR_FOLLOWER}}]")
    talk = FaultTalk(faults, serving)
    assert talk.ask(fetch(session_id=5, session_epoch=3), 12).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    answer = talk.ask(fetch("orders", session_epoch=0), 12)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    by_id = fetch("", session_epoch=0)
    by_id.topics[0].topic_id = topic_id("orders")
    assert talk.ask(by_id, 13).responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not talk.to_broker, "the broker is not even asked for names"


def test_one_with_an_error_of_the_whole_answer_leaves_sessions_alone(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Fetch}, do: {error: {code: KAFKA_STORAGE_ERROR, level: top}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert talk.ask(fetch(session_id=5, session_epoch=3), 12).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def sharing(request: Any, version: int) -> Any:
    """A broker that answers with both topics of a share session, whatever its request names."""
    if not isinstance(request, ShareFetchRequest):
        return serving(request, version)
    return refuse(SHARE_FETCH, version, share_fetch(0, "orders", "payments"), ErrorCode.NONE, level="partition")


def shared(answer: Any) -> dict[bytes, int]:
    """The error of each topic in a response."""
    return {topic.topic_id: topic.partitions[0].error_code for topic in answer.responses}


def test_in_a_share_session_the_answers_are_about_topics_that_its_requests_do_not_name(tmp_path: Path) -> None:
    text = "faults: [{match: {topic: orders}, do: {error: {code: KAFKA_STORAGE_ERROR, side: after_broker}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), sharing)
    for epoch, named in ((0, ("orders", "payments")), (1, ()), (2, ("payments",))):
        answer = talk.ask(share_fetch(epoch, *named), 1)
        told = {topic_id("orders"): ErrorCode.KAFKA_STORAGE_ERROR, topic_id("payments"): ErrorCode.NONE}
        assert shared(answer) == told


@pytest.mark.parametrize("do", ["{throttle: 1s}", "{delay: {time: 1s, side: after_broker}}", "drop"])
def test_an_answer_that_shows_nothing_of_what_is_meant_is_left_alone(tmp_path: Path, do: str) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{match: {{topic: others}}, do: {do}}}]")
    talk = FaultTalk(faults, sharing)
    answer = talk.ask(MetadataRequest(topics=None), 9)
    assert [topic.name for topic in answer.topics] == ["orders", "payments"]
    assert faults.told[-1].endswith("nothing in the answer is meant")
    talk.ask(share_fetch(0, "orders", "payments"), 1)
    assert not talk.ask(share_fetch(1), 1).error_code
    assert not faults.plugin.ledger.of("fault 1", Result.FIRED)


@pytest.mark.parametrize(
    ("meant", "delayed"),
    [("topic: orders", 3), ("topic: orders, partition: 0", 2), ("topic: orders, partition: 7", 0)],
)
def test_an_answer_that_shows_what_is_meant_is_delayed(tmp_path: Path, meant: str, delayed: int) -> None:
    delay = "{delay: {time: 1s, side: after_broker}}"
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{match: {{{meant}}}, do: {delay}}}]"), sharing)
    talk.ask(share_fetch(0, "orders", "payments"), 1)
    talk.ask(share_fetch(1), 1)
    talk.ask(MetadataRequest(topics=None), 9)  # its answer has topics without partitions
    assert len(talk.slept) == delayed


def test_a_topic_of_a_share_session_without_a_known_name_may_be_meant(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {topic: orders}, do: {delay: {time: 1s, side: after_broker}}}]")
    talk = FaultTalk(faults, sharing)
    talk.ask(share_fetch(1), 1)  # the faults came in the middle of the session
    assert talk.slept == [1.0]


def test_a_share_session_is_never_without_a_topic_that_its_client_named(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {topic: orders}, do: {error: NOT_LEADER_OR_FOLLOWER}}]")
    talk = FaultTalk(faults, sharing)
    talk.ask(share_fetch(0, "orders", "payments"), 1)
    (asked,) = (it for it in talk.to_broker if isinstance(it, ShareFetchRequest))
    assert [topic.topic_id for topic in asked.topics] == [topic_id("orders"), topic_id("payments")]
    assert faults.told[-1].endswith("only its answers can have the error (after_broker)")


@pytest.mark.parametrize("side", ["before_broker", "after_broker"])
def test_several_faults_are_about_several_parts_of_one_request(tmp_path: Path, side: str) -> None:
    text = f"""
        faults:
          - {{match: {{topic: orders, api: Produce}}, do: {{error: {{code: KAFKA_STORAGE_ERROR, side: {side}}}}}}}
          - {{match: {{topic: payments, api: Produce}}, do: {{error: {{code: NOT_LEADER_OR_FOLLOWER, side: {side}}}}}}}
    """
    for topics in (("orders", "payments"), ("orders", "payments", "others")):
        answer = FaultTalk(FaultFile(tmp_path, text), serving).ask(produce(*topics), 9)
        expected = {
            ("orders", 0): "KAFKA_STORAGE_ERROR",
            ("payments", 0): "NOT_LEADER_OR_FOLLOWER",
            ("others", 0): "NONE",
        }
        assert errors(answer) == {(topic, 0): expected[topic, 0] for topic in topics}


def test_what_is_cut_is_the_answer_that_another_fault_changed(tmp_path: Path) -> None:
    text = """
        faults:
          - {match: {api: Produce}, do: {cut: 40}}
          - {match: {api: Produce}, do: {error: {code: KAFKA_STORAGE_ERROR, side: after_broker}}}
    """
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    talk.ask(produce("orders"), 3)
    error_at = 4 + 4 + 4 + 2 + len("orders") + 4 + 4
    assert talk._arriving[error_at : error_at + 2] == ErrorCode.KAFKA_STORAGE_ERROR.to_bytes(2)
    assert talk.closed is not None


def test_a_request_that_is_about_nothing_of_the_kind_is_no_near_miss(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {topic: orders}, do: hold}]")
    FaultTalk(faults, serving).ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 0)
    assert faults.told == []


PRODUCE = "match: {api: Produce}"
SENT = "Produce v9 #1 of 192.0.2.1:50000 to broker 1"


@pytest.mark.parametrize(
    ("other", "by", "ends"),
    [
        ("throttle: 5s", "error: NOT_LEADER_OR_FOLLOWER", "answers it"),
        ("error: REQUEST_TIMED_OUT", "error: NOT_LEADER_OR_FOLLOWER", "answers it"),
        ("delay: {time: 1s, side: after_broker}", "disconnect: before_broker", "ends the connection"),
        ("cut: {bytes: 8, side: before_broker}", "error: NOT_LEADER_OR_FOLLOWER", "answers it"),
        ("drip: {bytes: 8, side: before_broker}", "disconnect: before_broker", "ends the connection"),
        ("duplicate: 2", "lose: {}", "answers it"),
        ("mangle: twice", "disconnect: after_broker", "ends the connection"),
    ],
)
def test_what_another_fault_ends_cannot_be_done_to_and_says_so(tmp_path: Path, other: str, by: str, ends: str) -> None:
    asked_first = f"{{name: by, {PRODUCE}, do: {{{by}}}}}, {{name: other, {PRODUCE}, do: {{{other}}}}}"
    faults = FaultFile(tmp_path, f"faults: [{asked_first}]")
    FaultTalk(faults, serving).ask(produce("orders"), 9)
    effect = by.partition(":")[0]
    assert faults.told == [
        f"by: fired at match 1: {SENT}: {effect}",
        f'other: matched, cannot be applied: {SENT}: "by" {ends}',
    ]


@pytest.mark.parametrize("other", ["throttle: 5s", "cut: 8", "cut: {bytes: 8, side: before_broker}", "duplicate: 2"])
def test_so_it_is_where_the_other_fault_stands_first(tmp_path: Path, other: str) -> None:
    text = f"faults: [{{name: other, {PRODUCE}, do: {{{other}}}}}, {{name: by, {PRODUCE}, do: disconnect}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    talk.ask(produce("orders"), 9)
    assert [(entry.fault, entry.result) for entry in faults.plugin.ledger] == [
        ("by", Result.FIRED),
        ("other", Result.CANNOT),
    ]
    assert (talk.to_broker, talk.closed) == ([], 'fault "by" disconnects the client')


@pytest.mark.parametrize("second", ["drip: 4", "bandwidth: 1000", "mangle: huge", "cut: 8", "drop: {}"])
def test_one_fault_says_how_a_frame_leaves_and_a_second_one_does_not_fire(tmp_path: Path, second: str) -> None:
    text = f"faults: [{{name: one, {PRODUCE}, do: {{cut: 12}}}}, {{name: two, {PRODUCE}, do: {{{second}}}}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    talk.ask(produce("orders"), 9)
    assert faults.told == [
        f"one: fired at match 1: {SENT}: cut",
        f'two: matched, cannot be applied: {SENT}: "one" says already how the frame leaves',
    ]
    assert len(talk._arriving) == 12


def test_a_request_and_its_answer_each_leave_in_a_manner_of_their_own(tmp_path: Path) -> None:
    side = "side: before_broker"
    text = f"faults: [{{{PRODUCE}, do: {{drip: {{bytes: 16, {side}}}}}}}, {{{PRODUCE}, do: {{cut: 12}}}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    talk.ask(produce("orders"), 9)
    assert [entry.result for entry in faults.plugin.ledger] == [Result.FIRED, Result.FIRED]
    assert (len(talk.to_broker), len(talk._arriving)) == (1, 12)


def test_what_others_answered_in_part_is_said_of_a_fault_that_is_about_that_part(tmp_path: Path) -> None:
    orders = "match: {api: Produce, topic: orders}"
    text = f"""
        faults:
          - {{name: one, {orders}, do: {{error: KAFKA_STORAGE_ERROR}}}}
          - {{name: two, {orders}, do: {{error: NOT_LEADER_OR_FOLLOWER}}}}
    """
    faults = FaultFile(tmp_path, text)
    FaultTalk(faults, serving).ask(produce("orders", "payments"), 9)
    assert faults.told == [
        f"one: fired at match 1: {SENT}: error",
        f"two: matched, cannot be applied: {SENT}: other faults answered what it is about",
    ]


@pytest.mark.parametrize(("is_first", "error"), [(True, ErrorCode.TOPIC_AUTHORIZATION_FAILED), (False, ErrorCode.NONE)])
def test_acl_judges_a_held_request_when_it_goes_on_only_if_it_stands_after_faults(
    tmp_path: Path, is_first: bool, error: ErrorCode
) -> None:
    faults = FaultFile(tmp_path, "faults: [{name: held, match: {api: Produce}, do: hold}]")
    rules = Rules(tmp_path / "acl.yaml", "acls: [{allow: User:alice, to: Write, topics: orders}]")
    talk = FaultTalk(faults, serving)
    plugins = [faults.plugin, rules.acl] if is_first else [rules.acl, faults.plugin]
    talk.link = Link(talk.connection, Filters(plugins))
    talk.link.begin()

    def release() -> None:
        rules.become("acls: []")
        faults.plugin.query("release", {"name": "held"})

    talk.sleeping = release
    assert errors(talk.ask(produce("orders"), 9)) == {("orders", 0): error.name}
