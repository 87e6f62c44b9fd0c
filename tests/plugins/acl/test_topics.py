"""Topics: describing, creating and deleting them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.cluster_topics import REMEMBERED
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from proxy.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import NO_UUID
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

Making = Callable[..., Rules]
KNOWN = {name: topic_id(name) for name in ("mine", "theirs", "seen")}
DESCRIBES = "acls: [{allow: User:alice, to: Describe, topics: [mine, seen, new]}]"
MAKES = "acls: [{allow: User:alice, to: [Describe, Create], topics: [mine, seen, new]}]"
NOBODYS, MISSING, NO_ID = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
)
READ, DESCRIBE, ALTER = 1 << 3, 1 << 8, 1 << 7
BOTH = READ | DESCRIBE


def broker(request: Request, version: int) -> Response | None:
    """It has three topics, and lets everybody do everything."""
    if not isinstance(request, MetadataRequest):
        return None
    asked = request if request.topics or version else MetadataRequest(topics=None)
    answer = metadata_of(KNOWN, asked)
    if request.include_topic_authorized_operations:
        for topic in answer.topics:
            topic.topic_authorized_operations = READ | DESCRIBE | ALTER
    if request.include_cluster_authorized_operations:
        answer.cluster_authorized_operations = DESCRIBE | ALTER
    return answer


def told(answer: MetadataResponse) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in answer.topics]


def metadata(*names: str, create: bool = False, **more: Any) -> MetadataRequest:
    topics = [MetadataRequest.Topic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=create, **more)


@pytest.mark.parametrize("version", range(14))
def test_who_asks_for_all_topics_is_told_of_those_it_may_see(rules: Making, version: int) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    answer = talk.ask(MetadataRequest(topics=None if version else []), version)
    assert told(answer) == [("mine", 0), ("seen", 0)]
    assert not talk.denied, "Kafka tells nobody of what a list leaves out"


@pytest.mark.parametrize("version", range(14))
def test_a_topic_that_may_not_be_seen_looks_the_same_whether_there_is_one_or_not(rules: Making, version: int) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    answer = talk.ask(metadata("theirs", "nobodys", "mine"), version)
    assert told(answer) == [("mine", 0), ("theirs", NOBODYS), ("nobodys", NOBODYS)]
    _, theirs, nobodys = answer.topics
    theirs.name = nobodys.name
    assert theirs == nobodys
    assert theirs.topic_id == bytes(16)
    named = {topic.name for request in talk.to_broker for topic in request.topics}
    assert named == {"mine"}


@pytest.mark.parametrize("version", range(14))
def test_brokers_are_told_where_all_topics_are_refused(rules: Making, version: int) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    assert told(talk.ask(metadata("theirs"), version)) == [("theirs", NOBODYS)]
    assert len(talk.to_broker) == 1


@pytest.mark.parametrize("version", [12, 13])
def test_by_id_a_topic_that_may_not_be_seen_has_no_name_and_one_that_is_missing_is_unknown(
    rules: Making, version: int
) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    ids = [topic_id("theirs"), topic_id("gone"), topic_id("mine")]
    topics = [MetadataRequest.Topic(topic_id=each, name=None) for each in ids]
    answer = talk.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), version)
    assert [(topic.name, topic.topic_id, topic.error_code) for topic in answer.topics] == [
        ("mine", topic_id("mine"), 0),
        (None, topic_id("theirs"), NOBODYS),
        (None, topic_id("gone"), NO_ID),
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_where_there_is_an_id_names_are_not_heeded(rules: Making, version: int) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    said = [("", KNOWN["mine"]), ("", KNOWN["theirs"]), ("theirs", KNOWN["seen"]), ("mine", NO_UUID), (None, NO_UUID)]
    topics = [MetadataRequest.Topic(name=name, topic_id=asked) for name, asked in said]
    answer = talk.ask(MetadataRequest(topics=topics), version)
    assert told(answer) == [("mine", 0), ("seen", 0), (None, NOBODYS)]
    assert answer.topics[-1].topic_id == KNOWN["theirs"]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_before_brokers_heed_them_are_an_error(rules: Making, version: int) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    topics = [MetadataRequest.Topic(name="", topic_id=KNOWN["mine"]), MetadataRequest.Topic(name="mine")]
    answer = talk.ask(MetadataRequest(topics=topics), version)
    assert told(answer) == [("", ErrorCode.INVALID_REQUEST), ("mine", ErrorCode.INVALID_REQUEST)]
    assert not [each for each in talk.to_broker if each.topics and each.topics[0].name is not None]


@pytest.mark.parametrize("version", range(14))
@pytest.mark.parametrize("own", [DESCRIBES, MAKES])
def test_a_missing_topic_is_made_only_for_who_may_make_it(rules: Making, version: int, own: str) -> None:
    talk = Talk(rules(own).acl, "User:alice", broker)
    answer = talk.ask(metadata("new", "mine", create=True), version)
    making = [it for it in talk.to_broker if it.allow_auto_topic_creation or version < 4]
    named = [[topic.name for topic in it.topics] for it in making]
    if own is MAKES:
        assert named == [["new", "mine"]]
    else:
        assert named[-1] == ["mine"]
        assert told(answer) == [("mine", 0), ("new", NOBODYS)]
        assert talk.denied == [("Create", "Topic", "new")]


def making(value: str | None, broker_id: str = "3") -> Callable[[Request, int], Response | None]:
    """A broker that says whether it makes topics that are missing."""

    def answers(request: Request, version: int) -> Response | None:
        if not isinstance(request, DescribeConfigsRequest):
            return broker(request, version)
        (resource,) = request.resources
        assert (resource.resource_type, resource.resource_name) == (4, broker_id)
        result = DescribeConfigsResponse.Result
        config = result.Config(name="auto.create.topics.enable", value=value, read_only=True, is_sensitive=False)
        found = result(error_code=0, error_message=None, resource_type=4, resource_name=broker_id, configs=[config])
        return DescribeConfigsResponse(throttle_time_ms=0, results=[found])

    return answers


@pytest.mark.parametrize(("value", "error"), [("true", NOBODYS), (None, NOBODYS), ("false", MISSING)])
def test_where_brokers_make_no_topics_a_missing_one_is_just_missing(
    rules: Making, value: str | None, error: int
) -> None:
    own = rules(DESCRIBES)
    talk = Talk(own.acl, "User:alice", making(value))
    talk.connection.broker_id, talk.connection.broker_versions = 3, {32: (1, 4)}
    for _ in range(2):
        assert told(talk.ask(metadata("new", create=True), 12)) == [("new", error)]
    questions = [each for each in talk.to_broker if isinstance(each, DescribeConfigsRequest)]
    assert len(questions) == 1, "it is remembered"
    own.clock.time += REMEMBERED
    talk.broker = making("true")
    assert told(talk.ask(metadata("new", create=True), 12)) == [("new", NOBODYS)], "but not for ever"


def test_what_one_broker_makes_by_itself_is_not_taken_for_what_another_does(rules: Making) -> None:
    own = rules(DESCRIBES)
    for broker_id, value, error in ((1, "false", MISSING), (2, "true", NOBODYS), (1, "true", MISSING)):
        talk = Talk(own.acl, "User:alice", making(value, str(broker_id)))
        talk.connection.broker_id, talk.connection.broker_versions = broker_id, {32: (1, 4)}
        assert told(talk.ask(metadata("new", create=True), 12)) == [("new", error)]


def test_who_may_make_topics_on_the_cluster_may_make_any(rules: Making) -> None:
    own = rules(DESCRIBES[:-1] + ", {allow: User:alice, to: Create, cluster: true}]")
    talk = Talk(own.acl, "User:alice", broker)
    talk.ask(metadata("new", create=True), 12)
    assert len(talk.to_broker) == 1


def test_operations_are_told_as_far_as_the_rules_allow_them(rules: Making) -> None:
    own = rules(DESCRIBES[:-1] + ", {allow: User:alice, to: Read, topics: mine}]")
    talk = Talk(own.acl, "User:alice", broker)
    more = {"include_topic_authorized_operations": True, "include_cluster_authorized_operations": True}
    answer = talk.ask(metadata("mine", "seen", "theirs", **more), 9)
    assert [topic.topic_authorized_operations for topic in answer.topics] == [BOTH, DESCRIBE, -(2**31)]
    assert answer.cluster_authorized_operations == 0, "nothing is told of the cluster to who may not describe it"


def describe(*names: str) -> DescribeTopicPartitionsRequest:
    topics = [DescribeTopicPartitionsRequest.Topic(name=name) for name in names]
    return DescribeTopicPartitionsRequest(topics=topics)


def described(*names: str) -> DescribeTopicPartitionsResponse:
    topic = DescribeTopicPartitionsResponse.Topic
    return DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[
            topic(error_code=0, name=name, topic_id=topic_id(name), is_internal=False, partitions=[]) for name in names
        ],
    )


def test_pages_of_all_topics_are_pages_of_those_that_may_be_seen(rules: Making) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    assert talk.ask(describe(), 0) is None
    assert talk.to_broker[-1] == describe("mine", "seen")
    assert [topic.name for topic in talk.answer(described("mine", "seen")).topics] == ["mine", "seen"]


def test_who_may_see_nothing_gets_no_page(rules: Making) -> None:
    talk = Talk(rules("acls: []").acl, "User:alice", broker)
    answer = talk.ask(describe(), 0)
    assert (answer.topics, answer.next_cursor) == ([], None)
    assert [type(each) for each in talk.to_broker] == [MetadataRequest]


def at(name: str, partition: int, *names: str) -> DescribeTopicPartitionsRequest:
    request = describe(*names)
    request.cursor = DescribeTopicPartitionsRequest.Cursor(topic_name=name, partition_index=partition)
    return request


@pytest.mark.parametrize(
    ("request_", "reached", "refused"),
    [
        (at("mine", 2), at("mine", 2, "mine", "seen"), []),
        (at("nobodys", 2), describe("seen"), []),
        (at("", 0), describe("mine", "seen"), []),
        (at("zzz", 0), None, []),
        (at("seen", 1, "mine", "nobodys", "seen", "theirs"), at("seen", 1, "seen"), ["theirs"]),
        (at("nobodys", 1, "mine", "nobodys", "seen"), describe("seen"), ["nobodys"]),
        (at("theirs", 1, "mine", "theirs"), None, ["theirs"]),
    ],
)
def test_a_description_goes_on_where_its_cursor_stands_also_where_nothing_may_be_seen(
    rules: Making, request_: Any, reached: Any, refused: list[str]
) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    answer = talk.ask(request_, 0)
    asked = [each for each in talk.to_broker if not isinstance(each, MetadataRequest)]
    assert asked == ([] if reached is None else [reached])
    if reached is not None:
        answer = talk.answer(described())
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [(name, NOBODYS) for name in refused]


@pytest.mark.parametrize("request_", [at("other", 0, "mine", "theirs"), at("mine", -1, "mine", "theirs")])
def test_a_cursor_that_stands_nowhere_is_an_error_of_all_that_is_asked_for(rules: Making, request_: Any) -> None:
    answer = Talk(rules(DESCRIBES).acl, "User:alice", broker).ask(request_, 0)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("mine", ErrorCode.INVALID_REQUEST),
        ("theirs", ErrorCode.INVALID_REQUEST),
    ]


@pytest.mark.parametrize("version", range(7))
def test_what_is_wrong_with_topics_to_delete_comes_before_who_may(rules: Making, version: int) -> None:
    cls = DeleteTopicsRequest
    names = ["theirs", "seen", "new", "seen2", "theirs"]
    by_name = {"topic_names": names, "topics": [cls.Topic(name=name, topic_id=NO_UUID) for name in names]}
    request = cls(timeout_ms=1, **by_name)  # type: ignore[arg-type]
    answer = Talk(rules("acls: [{allow: User:alice, to: Describe, topics: [mine, seen, new]}]").acl, broker=broker).ask(
        request, version
    )
    told = [(each.name, each.error_code) for each in answer.responses]
    assert told == [("theirs", ErrorCode.INVALID_REQUEST), ("seen", NOBODYS), ("new", MISSING), ("seen2", NOBODYS)]


def create(*names: str) -> CreateTopicsRequest:
    topic = CreateTopicsRequest.Topic
    return CreateTopicsRequest(
        topics=[topic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for name in names]
    )


def created(*names: str) -> CreateTopicsResponse:
    topic = CreateTopicsResponse.Topic
    return CreateTopicsResponse(
        topics=[
            topic(name=name, error_code=0, topic_id=topic_id(name), num_partitions=1, replication_factor=1, configs=[])
            for name in names
        ]
    )


@pytest.mark.parametrize("version", range(8))
def test_a_topic_is_made_by_who_may_and_its_settings_shown_to_who_may_see_them(rules: Making, version: int) -> None:
    own = rules(
        "acls: [{allow: User:alice, to: Create, topics: [a, b]}, {allow: User:alice, to: DescribeConfigs, topics: b}]"
    )
    talk = Talk(own.acl)
    assert talk.ask(create("a", "theirs", "b"), version) is None
    assert [topic.name for topic in talk.to_broker[0].topics] == ["a", "b"]
    answer = talk.answer(created("a", "b"))
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", 0), ("b", 0), ("theirs", NOBODYS)]
    if version >= 5:
        hidden, shown, _ = answer.topics
        assert (hidden.topic_config_error_code, hidden.num_partitions, hidden.replication_factor) == (NOBODYS, -1, -1)
        assert (shown.topic_config_error_code, shown.num_partitions) == (0, 1)


def test_a_name_that_stands_twice_is_left_to_the_broker(rules: Making) -> None:
    talk = Talk(rules("acls: []").acl)
    talk.ask(create("twice", "twice", "once"), 7)
    assert [topic.name for topic in talk.to_broker[0].topics] == ["twice", "twice"]
    assert talk.denied == [("Create", "Topic", "once")]


def test_topics_are_deleted_by_id_and_named_to_who_may_see_them(rules: Making) -> None:
    own = rules(DESCRIBES[:-1] + ", {allow: User:alice, to: Delete, topics: mine}]")
    talk = Talk(own.acl, "User:alice", broker)
    ids = [topic_id(name) for name in ("theirs", "seen", "gone", "mine")]
    talk.ask(DeleteTopicsRequest(topics=[DeleteTopicsRequest.Topic(topic_id=each) for each in ids], timeout_ms=1), 6)
    assert [topic.topic_id for topic in talk.to_broker[-1].topics] == [topic_id("mine")]
    done = DeleteTopicsResponse.Topic(name="mine", topic_id=topic_id("mine"), error_code=0)
    answer = talk.answer(DeleteTopicsResponse(responses=[done]))
    assert [(topic.name, topic.topic_id, topic.error_code) for topic in answer.responses] == [
        ("mine", topic_id("mine"), 0),
        (None, topic_id("theirs"), NOBODYS),
        ("seen", topic_id("seen"), NOBODYS),
        (None, topic_id("gone"), NO_ID),
    ]


def test_a_topic_by_both_its_name_and_its_id_is_not_deleted(rules: Making) -> None:
    talk = Talk(rules("super_users: [User:alice]").acl, "User:alice", broker)
    asked = DeleteTopicsRequest.Topic(name="mine", topic_id=KNOWN["mine"])
    answer = talk.ask(DeleteTopicsRequest(topics=[asked], timeout_ms=1), 6)
    (deleted,) = answer.responses
    assert (deleted.name, deleted.topic_id, deleted.error_code) == ("mine", KNOWN["mine"], ErrorCode.INVALID_REQUEST)
    assert deleted.error_message == "You may not specify both topic name and topic id."
    assert not any(isinstance(each, DeleteTopicsRequest) for each in talk.to_broker)


def test_who_may_delete_on_the_cluster_may_delete_every_topic(rules: Making) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: Delete, cluster: true}]").acl)
    request = DeleteTopicsRequest(topic_names=["mine", "theirs"], timeout_ms=1)
    talk.ask(request, 5)
    assert talk.to_broker == [request]


def test_what_is_missing_is_told_as_missing_to_who_may_see_it(rules: Making) -> None:
    talk = Talk(rules(DESCRIBES).acl, "User:alice", broker)
    assert told(talk.ask(metadata("new"), 12)) == [("new", MISSING)]
